// SPDX-License-Identifier: Apache-2.0
// Phases of a barrier in shared memory, counted by atomics: for devices whose barriers do not count
// the bytes of copies. The copying threads have stored these bytes before they arrive.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace simt::detail {

/// The 8 bytes of a phase_barrier. A device with bulk copies chooses what they hold. Otherwise it
/// is the number of arrivals of a phase in the high half of a word, and of missing ones in its low
/// half.
struct alignas(8) phase_words {
  std::uint32_t arrivals;  ///< see above
  std::uint32_t phase;     ///< number of completed phases
};

namespace counted {

WARDEN_DEVICE void init(phase_words& barrier, unsigned arrivals) {
  shared_store(barrier.arrivals, arrivals << 16 | arrivals);
  shared_store(barrier.phase, 0u);
}
/// Releases what the thread has written, as an arrival at an mbarrier does. The last arrival
/// acquires what the others released, and releases it with the number of the phase. Arrivals in the
/// next phase come after that number, so they find the word as it is set here.
WARDEN_DEVICE void arrive(phase_words& barrier) {
  fence_block();  // mutation: phase-release
  std::uint32_t const before = shared_fetch_add(barrier.arrivals, ~0u);
  if ((before & 0xffffu) != 1) return;
  std::uint32_t const all = before >> 16;
  shared_store(barrier.arrivals, all << 16 | all);
  fence_block();  // mutation: phase-passed-on
  shared_fetch_add(barrier.phase, 1u);
}
/// Acquires what the arrivals of the phase released, if it is complete.
WARDEN_DEVICE bool is_complete(phase_words const& barrier, std::uint32_t phase) {
  if (static_cast<std::int32_t>(shared_load(barrier.phase) - phase) <= 0) return false;
  fence_block();  // mutation: phase-acquire
  return true;
}

}  // namespace counted
}  // namespace simt::detail
WARDEN_NAMESPACE_END
