// SPDX-License-Identifier: Apache-2.0
// Time of short work on the device, without the time of the host to enqueue it.
#pragma once

#include <warden/stream.hpp>

namespace bench {

/// Keeps the device busy for 0.3 ms, so that work that the host enqueues in that time runs without
/// gaps. Does nothing on the simulated device. Throws cuda_error.
void give_host_head_start();

/// Returns the cost of the work that `enqueue()` enqueues in the default stream. For work of less
/// than 1 ms, where the time to prepare and enqueue launches would count.
template <class Enqueue>
warden::measurement device_time(Enqueue enqueue) {
  warden::timer clock;
  give_host_head_start();
  clock.start();
  enqueue();
  clock.stop();
  return clock.result();
}

}  // namespace bench
