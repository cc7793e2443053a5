// SPDX-License-Identifier: Apache-2.0
// Locks that a warp takes.
#pragma once

#include "microbench/support/device.cuh"

#include <warden/cuda_names.cuh>
#include <warden/section.cuh>

#include <cstdint>

namespace workloads {

namespace simt = warden::simt;

/// Calls `section()` by all lanes while the first one holds the lock, a word that is 0 if it is
/// free.
template <class Section>
WARDEN_DEVICE void run_under_lock(std::uint32_t* lock, warden::lane_group<32> const& group,
                                  Section section) {
  if (group.lane() == 0) {
    // Longer pauses than simt::back_off makes: thousands of warps may wait for one lock.
    for (unsigned pause = 20; simt::compare_exchange(lock, 0u, 1u) != 0;
         pause = pause < 1000 ? 2 * pause : 2000)
      __nanosleep(pause);
    simt::fence_device();
  }
  // The barriers extend the fences of the first lane to all lanes.
  group.sync();
  section();
  group.sync();
  if (group.lane() == 0) {
    simt::fence_device();
    simt::exchange(lock, 0u);
  }
  group.sync();
}

}  // namespace workloads
