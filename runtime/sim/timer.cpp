// SPDX-License-Identifier: Apache-2.0
// Timers that count work, because the simulated device has no time.

#include "machine.hpp"
#include "streams.hpp"

#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <memory>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

/// The mark of a timer; work that has not run yet keeps it, too.
using moment = std::shared_ptr<measurement>;
moment& of(void* mark) { return *static_cast<moment*>(mark); }

/// Enqueues the counts of the work so far, and turns the counting of sectors on or off.
void enqueue(stream_ref s, moment const& m, bool counts, std::source_location where) {
  auto const lock = sim::lock_device();
  auto const note = [m, counts] {
    sim::counts const c = sim::counts_so_far();
    m->global_atomics = c.global_atomics;
    m->lock_retries = c.lock_retries;
    m->sectors = c.sectors;
    m->messages = c.messages;
    sim::count_sectors(counts);
  };
  sim::all_streams().enqueue(s, note, where);
}

}  // namespace

timer::timer(std::source_location)
    : start_{new moment{std::make_shared<measurement>()}},
      stop_{new moment{std::make_shared<measurement>()}} {}
timer::~timer() {
  delete &of(start_);
  delete &of(stop_);
}
void timer::start(stream_ref s, std::source_location where) { enqueue(s, of(start_), true, where); }
void timer::stop(stream_ref s, std::source_location where) { enqueue(s, of(stop_), false, where); }
measurement timer::result(std::source_location) const {
  auto const lock = sim::lock_device();
  sim::all_streams().finish_all();
  measurement m = *of(stop_);
  auto const& start = *of(start_);
  m.global_atomics -= start.global_atomics;
  m.lock_retries -= start.lock_retries;
  m.sectors -= start.sectors;
  m.messages -= start.messages;
  return m;
}

WARDEN_HOST_NAMESPACE_END
