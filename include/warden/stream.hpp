// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams, events, graphs and timers, for host code that also runs without a GPU.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>

struct CUstream_st;  // the type that cudaStream_t points to
struct CUevent_st;   // the type that cudaEvent_t points to

WARDEN_HOST_NAMESPACE_BEGIN

class event;

/// A borrowed stream: a `cudaStream_t`, a `warden::stream`, or nothing (the default stream).
class stream_ref {
 public:
  /// Wraps a handle; null is the default stream. Implicit, so that a `cudaStream_t` can be passed
  /// directly.
  stream_ref(CUstream_st* handle = nullptr) : handle_{handle} {}
  /// Returns the `cudaStream_t`.
  [[nodiscard]] CUstream_st* handle() const { return handle_; }
  /// Blocks the host until everything enqueued so far has finished. Throws cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const;
  /// Makes everything that is enqueued here from now on run after the place that `e` has recorded.
  /// Throws cuda_error.
  void wait_for(event const& e, std::source_location where = std::source_location::current()) const;

 private:
  CUstream_st* handle_;
};

/// A recorded place in a stream, to wait for. It measures no time.
class event {
 public:
  /// Makes an event on the current device, with no place recorded. Throws cuda_error.
  explicit event(std::source_location where = std::source_location::current());
  ~event();
  /// A moved-from object may only be destroyed or assigned to.
  event(event&& other) noexcept;
  /// Swaps with `other`.
  event& operator=(event&& other) noexcept;
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  /// Returns the `cudaEvent_t`.
  [[nodiscard]] CUevent_st* handle() const { return handle_; }
  /// Records the place after everything that is enqueued in `s` so far, and forgets the place
  /// recorded before. Throws cuda_error.
  void record(stream_ref s, std::source_location where = std::source_location::current());
  /// Blocks the host until the recorded place is reached. Returns at once if none is recorded.
  /// Throws cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const;

 private:
  CUevent_st* handle_;
};

/// Order in which kernels of different streams get free multiprocessors.
enum class stream_priority : unsigned char {
  usual,
  high  ///< before those of usual streams; blocks that run already are not stopped
};

/// An owned stream on the current device.
class stream {
 public:
  /// Makes a stream that does not synchronize with the default stream. Throws cuda_error.
  explicit stream(std::source_location where = std::source_location::current())
      : stream{stream_priority::usual, where} {}
  /// Makes a stream with a priority. The simulated device ignores the priority.
  explicit stream(stream_priority priority,
                  std::source_location where = std::source_location::current());
  /// Destroys the stream. Work that is enqueued already still runs.
  ~stream();
  /// Moves the stream; `other` becomes the default stream.
  stream(stream&& other) noexcept;
  /// Swaps with `other`.
  stream& operator=(stream&& other) noexcept;
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  /// Returns a reference that is valid while this stream lives.
  operator stream_ref() const { return stream_ref{handle_}; }
  /// Blocks the host until everything enqueued so far has finished. Throws cuda_error.
  void synchronize(std::source_location where = std::source_location::current()) const {
    stream_ref{handle_}.synchronize(where);
  }

 private:
  CUstream_st* handle_;
};

/// A stream, and the line that named it: for the errors of functions whose last parameters are a
/// pack.
struct located_stream {
  stream_ref stream;           ///< {} is the default stream
  std::source_location where;  ///< line of the caller

  /// The default stream.
  located_stream(std::source_location line = std::source_location::current()) : where{line} {}
  /// A borrowed stream.
  located_stream(stream_ref s, std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
  /// A `cudaStream_t`.
  located_stream(CUstream_st* s, std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
  /// An owned stream.
  located_stream(warden::stream const& s,
                 std::source_location line = std::source_location::current())
      : stream{s}, where{line} {}
};

/// The work that was enqueued in a stream during a capture, ready to launch.
class graph {
 public:
  /// Begins to capture the work in `s` instead of running it. Precondition: `s` is not the default
  /// stream. Until `end_capture`, which the same thread calls, this thread must not allocate or
  /// free device memory, and no thread may wait for `s` (CUDA's capture mode "thread local").
  /// Throws cuda_error.
  static void begin_capture(stream_ref s,
                            std::source_location where = std::source_location::current());
  /// Returns the captured work. Throws cuda_error if the program did something forbidden during the
  /// capture. The stream is usable again in any case.
  static graph end_capture(stream_ref s,
                           std::source_location where = std::source_location::current());
  /// Returns the work that `enqueue()` enqueues in `s`. Throws what `enqueue` throws, and
  /// cuda_error.
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

  /// A moved-from object may only be destroyed or assigned to.
  graph(graph&& other) noexcept;
  /// A moved-from object may only be destroyed or assigned to.
  graph& operator=(graph&& other) noexcept;
  ~graph();

  /// Enqueues the captured work in `s`, which may be any stream. Throws cuda_error.
  void launch(stream_ref s, std::source_location where = std::source_location::current()) const;

 private:
  struct content;
  explicit graph(std::unique_ptr<content> captured);
  static void abandon_capture(stream_ref s) noexcept;

  std::unique_ptr<content> content_;
};

/// Cost of a stretch of a stream.
struct measurement {
  double seconds = 0;  ///< between GPU events; 0 on the simulated device, which has no time
  // Counted on the simulated device only; 0 on a GPU.
  std::uint64_t global_atomics = 0;  ///< atomics on global memory by the platform layer
  std::uint64_t lock_retries = 0;    ///< failed tries for a lock, global or in a server's table
  std::uint64_t sectors =
      0;  ///< sectors of 32 bytes of global memory, by the platform layer's warp accesses
  std::uint64_t messages = 0;  ///< sent by clients
};

/// Measures the stretch of a stream between `start` and `stop`.
class timer {
 public:
  /// Makes a timer on the current device. Throws cuda_error.
  explicit timer(std::source_location where = std::source_location::current());
  ~timer();
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;

  /// Enqueues the beginning of the stretch. Throws cuda_error.
  void start(stream_ref s = {}, std::source_location where = std::source_location::current());
  /// Enqueues the end of the stretch. Precondition: `s` is the stream of `start`. Throws
  /// cuda_error.
  void stop(stream_ref s = {}, std::source_location where = std::source_location::current());
  /// Returns the cost. Blocks the host until the stretch has ended. Throws cuda_error.
  [[nodiscard]] measurement result(
      std::source_location where = std::source_location::current()) const;

 private:
  void* start_;
  void* stop_;
};

WARDEN_HOST_NAMESPACE_END
