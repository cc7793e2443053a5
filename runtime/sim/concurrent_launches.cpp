// SPDX-License-Identifier: Apache-2.0
// Launches of different streams that run at once on the simulated device.

#include "streams.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Launches on one machine at most, unless those that run wait for further ones: what its threads
/// know takes memory and time for each thread so far.
constexpr unsigned most_launches = 16;
/// A further launch begins within 2 to this power steps, if it does not begin at once or late.
constexpr std::uint32_t most_arrival_bits = 14;

}  // namespace

/// Runs the launch and what other streams run at the same time, until all launches have ended.
void streams::run_launches(queue& q, kernel_launch const& kernel) {
  machine one{current_settings(), next_launch_seed()};
  machine_ = &one;
  running_ = begun_ = 0;
  try {
    begin(q, kernel);
    while (running_ != 0) {
      if (running_launch const* const ended = one.run()) {
        end(*ended);
      } else {
        begin_more();
      }
    }
  } catch (...) {
    note_report(one.result(), true);
    machine_ = nullptr;
    known_.clear();
    throw;
  }
  machine_ = nullptr;
  known_.clear();
}

void streams::begin(queue& q, kernel_launch const& kernel) {
  // The first launch's is the machine's.
  if (begun_++ != 0) static_cast<void>(next_launch_seed());
  ++running_;
  q.running = &machine_->begin(kernel, known_[&q], sectors_count());
  plan_next();
}

void streams::end(running_launch const& l) {
  --running_;
  for (auto const& q : queues_) {
    if (q->running != &l) continue;
    q->running = nullptr;
    known_[q.get()] = l.known_after;
  }
  note_report(l.result, false);
  if (running_ != 0) plan_next();
}

/// True if the front of the stream can run next to the launches that run.
bool streams::can_begin(queue const& q) const {
  if (!q.is_ready()) return false;
  auto const* const kernel = std::get_if<kernel_launch>(&q.items.front().run);
  return kernel == nullptr || machine_->fits(kernel->shape);
}

/// Runs, or begins, the front of a stream of the seed's choice.
void streams::begin_more() {
  std::vector<queue*> ready;
  for (auto const& q : queues_) {
    if (can_begin(*q)) ready.push_back(q.get());
  }
  if (!ready.empty()) run_front(*ready[choices_.below(static_cast<std::uint32_t>(ready.size()))]);
  if (!ready.empty() || !machine_->is_stuck()) return plan_next();
  // The deadlock is final, unless a block that ends leaves room.
  machine_->others = {.waiting = waiting_launches()};
}

/// Chooses when a further front begins next to the launches that run: at once, later, or only when
/// these wait for it or have ended.
void streams::plan_next() {
  machine_->others = {};
  if (std::none_of(queues_.begin(), queues_.end(), [](auto const& q) { return q->is_ready(); }))
    return;
  machine_->others.may_begin = true;
  std::uint32_t const kind = choices_.below(4);
  if (kind == 0 || begun_ >= most_launches) return;
  machine_->others.pause_at = machine_->steps();
  if (kind != 1)
    machine_->others.pause_at += choices_.below(2u << choices_.below(most_arrival_bits));
}

/// Names the launches that wait in streams, for the message of a deadlock; empty if there are none.
std::string streams::waiting_launches() const {
  std::size_t n = 0;
  std::string places;
  for (auto const& q : queues_) {
    if (q->running != nullptr) continue;
    for (queue::item const& i : q->items) {
      auto const* const kernel = std::get_if<kernel_launch>(&i.run);
      if (kernel == nullptr) continue;
      ++n;
      places += "\n  launch at " + to_string(kernel->where) + ": " +
                (&i == &q->items.front() ? "no room on the device next to the launches that run"
                                         : "comes after work of its stream that waits");
    }
  }
  return n == 0 ? "" : "\nlaunches in other streams wait: " + std::to_string(n) + places;
}

/// All that has happened at `from` has happened at `place`, too. Null: nothing has.
void streams::learn(void const* place, void const* from) {
  if (machine_ == nullptr || from == nullptr) return;
  view const here{known_[place]}, there{known_[from]};
  known_[place] = join(here, there, 0).others;
}

void streams::note_written(void const* memory, std::size_t bytes) {
  if (machine_ != nullptr) machine_->written_by_host(memory, bytes);
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
