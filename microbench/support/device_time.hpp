// SPDX-License-Identifier: Apache-2.0
// What short work costs the device, without what the host takes to enqueue it.
#pragma once

#include <warden/stream.hpp>

namespace bench {

/// Keeps the device busy for a while: what the host enqueues meanwhile then begins without gaps.
/// Nothing on the simulated device. Throws cuda_error.
void give_host_head_start();

/// What it costs the device to run what `enqueue()` enqueues in the default stream. For work of
/// less than a millisecond, beside which launches and their preparation would count.
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
