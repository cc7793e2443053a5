// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams, events, graphs and timers, for host code that also runs without a GPU.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>

struct CUstream_st;  // what a cudaStream_t points to
struct CUevent_st;   // what a cudaEvent_t points to

WARDEN_HOST_NAMESPACE_BEGIN

class event;

/// A borrowed stream: a `cudaStream_t`, a `warden::stream`, or nothing (the default stream).
class stream_ref {
 public:
  /// Null is the default stream. Implicit, so that a `cudaStream_t` can be passed as it is.
  stream_ref(CUstream_st* handle = nullptr) : handle_{handle} {}
  /// the `cudaStream_t`
  [[nodiscard]] CUstream_st* handle() const { return handle_; }
  /// Blocks the host until everything enqueued so far has finished. Throws cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const;
  /// What is enqueued here from now on runs after the place that `e` has recorded. Throws
  /// cuda_error.
  void wait_for(event const& e, std::source_location where = std::source_location::current()) const;

 private:
  CUstream_st* handle_;
};

/// A place in a stream, for those who wait for it; it has no time.
class event {
 public:
  /// An event of the current device, nothing recorded yet. Throws cuda_error.
  explicit event(std::source_location where = std::source_location::current());
  ~event();
  /// What was moved from may only be destroyed or assigned to.
  event(event&& other) noexcept;
  /// Swaps with `other`.
  event& operator=(event&& other) noexcept;
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  /// the `cudaEvent_t`
  [[nodiscard]] CUevent_st* handle() const { return handle_; }
  /// The place behind all that is enqueued in `s` so far, instead of the one before. Throws
  /// cuda_error.
  void record(stream_ref s, std::source_location where = std::source_location::current());
  /// Blocks the host until the recorded place is reached; not at all if there is none. Throws
  /// cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const;

 private:
  CUevent_st* handle_;
};

/// Order in which kernels of different streams get multiprocessors that are free.
enum class stream_priority : unsigned char {
  usual,
  high  ///< before those of usual streams; blocks that run already are not stopped
};

/// A stream of one's own on the current device.
class stream {
 public:
  /// Does not synchronize with the default stream. Throws cuda_error.
  explicit stream(std::source_location where = std::source_location::current())
      : stream{stream_priority::usual, where} {}
  /// Makes one with a priority. The simulated device ignores it.
  explicit stream(stream_priority priority,
                  std::source_location where = std::source_location::current());
  /// Work enqueued already still runs.
  ~stream();
  /// Leaves `other` the default stream.
  stream(stream&& other) noexcept;
  /// Swaps with `other`.
  stream& operator=(stream&& other) noexcept;
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  /// Valid while this stream lives.
  operator stream_ref() const { return stream_ref{handle_}; }
  /// Blocks the host until everything enqueued so far has finished. Throws cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const {
    stream_ref{handle_}.synchronize(where);
  }

 private:
  CUstream_st* handle_;
};

/// A stream, and the line it was named in: for errors of functions whose last parameters are a
/// pack.
struct located_stream {
  stream_ref stream;           ///< the default stream for {}
  std::source_location where;  ///< of the caller

  /// The default stream.
  located_stream(std::source_location line = std::source_location::current()) : where{line} {}
  /// A borrowed stream.
  located_stream(stream_ref s, std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
  /// A `cudaStream_t`.
  located_stream(CUstream_st* s, std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
  /// A stream of one's own.
  located_stream(warden::stream const& s,
                 std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
};

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

/// What a stretch of a stream cost.
struct measurement {
  double seconds = 0;  ///< between GPU events; 0 on the simulated device, which has no time
  // Counted on the simulated device only; 0 on a GPU.
  std::uint64_t global_atomics = 0;  ///< atomics on global memory by the platform layer
  std::uint64_t lock_retries = 0;    ///< failed tries for a lock, global or in a server's table
  std::uint64_t sectors =
      0;  ///< of 32 bytes of global memory, by the platform layer's warp accesses
  std::uint64_t messages = 0;  ///< sent by clients
};

/// Measures the stretch of a stream between `start` and `stop`.
class timer {
 public:
  /// On the device current now. Throws cuda_error.
  explicit timer(std::source_location where = std::source_location::current());
  ~timer();
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;

  /// Enqueues the beginning of the stretch. Throws cuda_error.
  void start(stream_ref s = {}, std::source_location where = std::source_location::current());
  /// Enqueues its end, in the same stream. Throws cuda_error.
  void stop(stream_ref s = {}, std::source_location where = std::source_location::current());
  /// Blocks the host until the stretch has ended. Throws cuda_error.
  [[nodiscard]] measurement result(
      std::source_location where = std::source_location::current()) const;

 private:
  void* start_;
  void* stop_;
};

WARDEN_HOST_NAMESPACE_END
