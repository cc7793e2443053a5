// SPDX-License-Identifier: Apache-2.0
// Timers that count work, because the simulated device has no time.

#include "machine.hpp"

#include <warden/simulation.hpp>
#include <warden/timer.hpp>

WARDEN_HOST_NAMESPACE_BEGIN

timer::timer() : start_{new measurement}, stop_{new measurement} {}
timer::~timer() {
  delete static_cast<measurement*>(start_);
  delete static_cast<measurement*>(stop_);
}

namespace {
measurement so_far() {
  sim::counts const c = sim::total_counts();
  measurement m;
  m.global_atomics = c.global_atomics;
  m.lock_retries = c.lock_retries;
  m.sectors = c.sectors;
  m.messages = c.messages;
  return m;
}
}  // namespace

void timer::start(stream_ref) {
  *static_cast<measurement*>(start_) = so_far();
  sim::count_sectors(true);
}
void timer::stop(stream_ref) {
  *static_cast<measurement*>(stop_) = so_far();
  sim::count_sectors(false);
}
measurement timer::result() const {
  measurement m = *static_cast<measurement*>(stop_);
  auto const& start = *static_cast<measurement*>(start_);
  m.global_atomics -= start.global_atomics;
  m.lock_retries -= start.lock_retries;
  m.sectors -= start.sectors;
  m.messages -= start.messages;
  return m;
}

WARDEN_HOST_NAMESPACE_END
