// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work that is captured from a stream once and launched many times, for host code that also runs
/// without a GPU.
#pragma once

#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <memory>
#include <source_location>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

/// What was enqueued in one stream during a capture, ready to be launched.
class graph {
 public:
  /// From now on work in `s`, which is not the default stream, is captured instead of run. Until
  /// `end_capture` the program allocates and frees no device memory and does not wait for `s`
  /// (CUDA's capture mode "global"). Throws cuda_error.
  static void begin_capture(stream_ref s,
                            std::source_location where = std::source_location::current());
  /// What has been captured. Throws cuda_error when something forbidden was tried meanwhile; the
  /// stream is usable again in any case.
  static graph end_capture(stream_ref s,
                           std::source_location where = std::source_location::current());
  /// What `enqueue()` enqueues in `s`. Throws what that throws, and cuda_error.
  template <class Enqueue>
  static graph capture(stream_ref s, Enqueue&& enqueue,
                       std::source_location where = std::source_location::current()) {
    begin_capture(s, where);
    try {
      std::forward<Enqueue>(enqueue)();
    } catch (...) {
      abandon_capture(s);
      throw;
    }
    return end_capture(s, where);
  }

  /// What was moved from may only be destroyed or assigned to.
  graph(graph&& other) noexcept;
  /// What was moved from may only be destroyed or assigned to.
  graph& operator=(graph&& other) noexcept;
  ~graph();

  /// Enqueues the captured work in `s`, any stream. Throws cuda_error.
  void launch(stream_ref s, std::source_location where = std::source_location::current()) const;

 private:
  struct content;
  explicit graph(std::unique_ptr<content> captured);
  static void abandon_capture(stream_ref s) noexcept;

  std::unique_ptr<content> content_;
};

WARDEN_HOST_NAMESPACE_END
