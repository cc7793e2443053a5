// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a stretch of a stream cost: time on a GPU, counted work on the simulated device.
#pragma once

#include <warden/simt/host_abi.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <source_location>

WARDEN_HOST_NAMESPACE_BEGIN

/// What a stretch of a stream cost.
struct measurement {
  double seconds = 0;  ///< between GPU events; 0 on the simulated device, which has no time
  // Counted on the simulated device only; 0 on a GPU.
  std::uint64_t global_atomics = 0;  ///< atomics on global memory by the seam
  std::uint64_t lock_retries = 0;    ///< failed tries for a lock, global or in a server's table
  std::uint64_t sectors = 0;         ///< of 32 bytes of global memory, by the seam's warp accesses
  std::uint64_t messages = 0;        ///< sent by clients
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
