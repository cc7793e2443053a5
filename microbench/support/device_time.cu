// SPDX-License-Identifier: Apache-2.0
// Keeps the device busy until the host has enqueued the measured work.

#include "microbench/support/device_time.hpp"

#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bench {

namespace simt = warden::simt;

/// Longer than a dozen launches take, including the driver calls before them.
constexpr std::uint64_t head_start_nanoseconds = 300'000;

WARDEN_KERNEL void stay_busy(std::uint64_t nanoseconds) {
  std::uint64_t const begin = simt::nanoseconds();
  while (simt::nanoseconds() - begin < nanoseconds) simt::back_off(0);
}

void give_host_head_start() {
  if (warden::runtime::facts(warden::runtime::current_device()).simulated) return;
  simt::launch(&stay_busy, 1, 1, 0, head_start_nanoseconds, {});
}

}  // namespace bench
