// SPDX-License-Identifier: Apache-2.0
// What short work costs the device, without what the host takes to enqueue it.
#pragma once

#include <warden/stream.hpp>

namespace bench {

/// Keeps the device busy for a while, so that work that the host enqueues in that time begins
/// without gaps. Does nothing on the simulated device. Throws cuda_error.
void give_host_head_start();

/// Returns the cost of the work that `enqueue()` enqueues in the default stream. For work of less
/// than a millisecond, compared to which launches and their preparation would count.
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
