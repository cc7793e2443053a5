// SPDX-License-Identifier: Apache-2.0
// Bulk copies of a simulated launch, and the barriers in shared memory that count their bytes.
#pragma once

#include "call_places.hpp"
#include "order.hpp"

#include <warden/simt/sim_device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

struct block;

/// Barrier of phases that is in use.
struct phase_state {
  block* home;                     ///< block in whose shared memory it is
  unsigned thread;                 ///< thread that initialized it
  unsigned arrivals;               ///< number in each phase
  unsigned missing_threads;        ///< arrivals that the current phase waits for
  std::int64_t missing_bytes = 0;  ///< below 0: bytes came before an arrival announced them
  std::uint32_t phase = 0;
  bool known_to_copies = false;  ///< `thread` has fenced since
  view released = {};            ///< knowledge of all arrivals and copies so far
  view completed = {};           ///< knowledge that the end of the last phase released

  /// Returns the contents of its 8 bytes, so that a store over them is noticed.
  [[nodiscard]] std::array<std::uint32_t, 2> image() const {
    return {missing_threads << 16 | (static_cast<std::uint32_t>(missing_bytes) & 0xffffu), phase};
  }
  /// "1 of 2 arrivals and 256 bytes in phase 3".
  [[nodiscard]] std::string missing() const {
    return std::to_string(missing_threads) + " of " + std::to_string(arrivals) + " arrivals and " +
           std::to_string(missing_bytes) + " bytes in phase " + std::to_string(phase);
  }
};

/// Copy that has begun and not ended.
struct bulk_copy {
  std::byte* to;
  std::byte const* from;
  std::vector<std::uint16_t> pieces;  ///< those of 16 bytes that have not come
  unsigned bytes;
  void* barrier;
  block* home;
  unsigned block_number;
  thread_order order;   ///< knowledge of the starting thread when it started the copy
  std::uint32_t pause;  ///< turns of the schedule between two pieces, on average
  place_id place;
  device::site where;
};

/// All barriers and copies of the launches that run.
struct copy_engine {
  std::map<void const*, phase_state> barriers;  ///< by address
  std::vector<bulk_copy> under_way;
  /// Number of a thread that runs no code, to which the accesses of all copies belong; `no_thread`
  /// before the first copy.
  unsigned number = no_thread;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
