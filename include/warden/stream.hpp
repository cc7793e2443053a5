// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams of work, for host code that also runs without a GPU.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <source_location>

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

WARDEN_HOST_NAMESPACE_END
