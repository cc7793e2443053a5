// SPDX-License-Identifier: Apache-2.0
// The schedule of a simulated launch: fibers, the choice of the next thread, sleep, time and
// errors.

#include "machine.hpp"

#include "watchdog.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

machine* machine::now = nullptr;

machine::machine(settings const& chosen, std::uint64_t seed)
    : settings_{chosen},
      random_{seed},
      room_(static_cast<std::size_t>(chosen.multiprocessors), free_room{chosen}),
      watch_counts_(1u << 16) {
  // Without weak memory no fence is recorded, so no two accesses would be ordered.
  if (detects_races() && settings_.weak_memory) shadow_ = std::make_unique<shadow_memory>();
  if (reports_memory(settings_)) warp_accesses_ = std::make_unique<warp_accesses>();
}

machine::~machine() {
  // A launch that failed leaves fibers in the middle of user code. They are abandoned, not unwound:
  // destructors of device code would ask a stopped machine for operations.
  for (thread& t : threads_) {
    if (t.fiber) new (&t.fiber) boost::context::fiber{};
  }
  stacks().free_all();
}

running_launch* machine::run() {
  now = this;
  ended_ = nullptr;
  stuck_ = false;
  quiet_check_at_ = 0;
  watchdog const watching{*this, settings_.watchdog_seconds};
  while (ended_ == nullptr && !stuck_ && !failed_ && steps() < others.pause_at) {
    if (!copies_.under_way.empty()) {
      land_copies();
      if (failed_ || runnable_.empty()) continue;
    }
    if (runnable_.empty()) {
      stuck_ = others.may_begin;
      if (!stuck_) wake_by_time();
      continue;
    }
    current_ = &choose();
    turn_to(*current_->home->of);
    ++report_.switches;
    watchdog::sign_of_life();
    budget_ = draw_budget();
    if (others.pause_at != other_streams::never)
      budget_ = std::min(budget_, static_cast<std::int64_t>(others.pause_at - steps()));
    device::here.thread = current_->index;
    device::here.block = current_->home->index;
    scheduler_stack_.leave(current_->stack);
    running = shadow_ == nullptr ? nullptr : current_;
    std::uint64_t const before = report_.steps;
    current_->fiber = std::move(current_->fiber).resume();
    running = nullptr;
    scheduler_stack_.enter(current_->stack);
    current_->allowance -= static_cast<std::int64_t>(report_.steps - before);
    block& b = *current_->home;
    if (b.ended == b.threads && !failed_) end_block(b);
  }
  now = nullptr;
  if (failed_) {
    report_.trace_hash = hash_;
    report_.nanoseconds = nanoseconds();
    throw_failure();
  }
  return ended_;
}

// ---- choice of the next thread

std::int64_t machine::draw_budget() {
  if (settings_.order == schedule::pct) {
    std::int64_t const most = std::max<std::int64_t>(current_->allowance, 1);
    if (change_points_.empty()) return most;
    auto const left =
        static_cast<std::int64_t>(change_points_.back()) - static_cast<std::int64_t>(steps());
    return std::clamp<std::int64_t>(left, 1, most);
  }
  // Mostly short turns, in which races hide; sometimes a long one, so that others fall far back.
  std::uint32_t const kind = random_.below(16);
  if (kind < 9) return 1 + random_.below(4);
  if (kind < 14) return 1 + random_.below(32);
  return 1 + random_.below(400);
}

thread& machine::choose() {
  if (settings_.order == schedule::pct) return choose_by_priority();
  auto const size = static_cast<std::uint32_t>(runnable_.size());
  // One block at a time for a while, as on a busy multiprocessor.
  if (--block_budget_ <= 0) {
    favourite_ = runnable_[random_.below(size)].home;
    block_budget_ = random_.below(4) == 0 ? 1 + random_.below(2000) : 1 + random_.below(100);
  }
  candidate const* chosen = &runnable_[random_.below(size)];
  for (int tries = 0; tries < 3 && chosen->home != favourite_; ++tries) {
    chosen = &runnable_[random_.below(size)];
  }
  return threads_[chosen->number];
}

thread& machine::choose_by_priority() {
  if (current_ != nullptr) {
    falling falls = std::exchange(falls_, falling::below_none);
    bool const change = !change_points_.empty() && steps() >= change_points_.back();
    if (change) change_points_.pop_back();
    if (change || current_->allowance <= 0) falls = falling::below_all;
    if (falls == falling::below_all) fall_below_all(*current_);
    if (falls == falling::below_next) fall_below_next(*current_);
  }
  return *best_runnable();
}

void machine::fall_below_all(thread& t) {
  // In steps of two: see fall_below_next.
  t.priority = lowest_priority_ -= 2;
  t.allowance = longest_turn;
  if (t.state == thread_state::runnable) prioritize(t);
}

/// Precondition: `t` had the highest priority.
void machine::fall_below_next(thread& t) {
  if (t.state != thread_state::runnable) return;
  std::uint64_t const before = std::exchange(t.priority, 0);
  thread const* const next = best_runnable();
  t.priority = next == nullptr ? before : next->priority - 1;
  prioritize(t);
}

/// The runnable thread of highest priority, or null if there is none.
thread* machine::best_runnable() {
  while (!by_priority_.empty()) {
    prioritized const& best = by_priority_.front();
    thread& t = threads_[best.number];
    if (t.state == thread_state::runnable && t.priority == best.priority) return &t;
    std::pop_heap(by_priority_.begin(), by_priority_.end());
    by_priority_.pop_back();
  }
  return nullptr;
}

void machine::prioritize(thread const& t) {
  if (by_priority_.size() > 4 * threads_.size()) {
    // Entries that are out of date have low priorities and never reach the top.
    by_priority_.clear();
    for (candidate const& c : runnable_) {
      by_priority_.push_back({threads_[c.number].priority, c.number});
    }
    std::make_heap(by_priority_.begin(), by_priority_.end());
    return;
  }
  by_priority_.push_back({t.priority, t.number});
  std::push_heap(by_priority_.begin(), by_priority_.end());
}

void machine::add_runnable(thread& t) {
  t.state = thread_state::runnable;
  t.runnable_place = static_cast<std::uint32_t>(runnable_.size());
  runnable_.push_back({t.number, t.home});
  if (settings_.order == schedule::pct) prioritize(t);
}

void machine::make_runnable(thread& t) {
  if (t.state == thread_state::runnable) return;
  add_runnable(t);
  if (settings_.order == schedule::pct && current_ != nullptr && t.priority > current_->priority)
    budget_ = 1;
}

void machine::block_current(thread_state state) {
  thread& t = *current_;
  candidate const& last = runnable_.back();
  threads_[last.number].runnable_place = t.runnable_place;
  runnable_[t.runnable_place] = last;
  runnable_.pop_back();
  t.state = state;
}

void machine::switch_out() {
  thread& t = *current_;
  thread* const was_running = running;
  t.stack.leave(scheduler_stack_);
  scheduler_ = std::move(scheduler_).resume();
  t.stack.enter(scheduler_stack_);
  running = was_running;
}

void machine::step(device::operation what, device::site const& where) {
  if (pending_.size != 0) end_pending_access();
  thread& t = *current_;
  // Compiled code has no place of that kind: its accesses pass the thread's last one.
  t.is_plain = &where == &t.where;
  t.where = where;
  if (t.must_wait_for_previous) refuse_early(t);
  ++report_.steps;
  watchdog::sign_of_life();
  hash_ = (hash_ ^ (std::uint64_t{t.number} << 24 ^ static_cast<std::uint64_t>(what) << 16 ^
                    where.line())) *
          0x100000001b3ull;
  if (what == device::operation::shared) ++report_.counts.shared_accesses;
  if (--budget_ > 0) return;
  if (report_.steps > settings_.max_steps) {
    misuse("no end after " + std::to_string(settings_.max_steps) +
               " steps (if the launch is only long: settings::max_steps, or WARDEN_MAX_STEPS)",
           where);
  }
  switch_out();
}

void machine::refuse_early(thread& t) {
  t.must_wait_for_previous = false;
  misuse(
      "a thread of a kernel that was launched early did not begin with "
      "simt::wait_for_previous_kernel",
      t.where);
}

void machine::yield(device::site const& where) {
  budget_ = 0;
  falls_ = falling::below_all;
  step(device::operation::yield, where);
  add_look(*current_, 0, 0);
  end_turn_if_spinning();
}
void machine::yield_in_section(device::site const& where) {
  budget_ = 0;
  falls_ = falling::below_next;
  step(device::operation::yield, where);
}

void machine::end_thread(thread& t) {
  if (pending_.size != 0) end_pending_access();
  if (t.must_wait_for_previous) refuse_early(t);
  block& b = *t.home;
  if (b.at_barrier != 0) {
    misuse("thread ended while others of its block wait at a barrier", t.where);
  }
  for (block const& other : cluster_of(b)) {
    if (other.at_cluster_barrier != 0)
      misuse("thread ended while others of its cluster wait at a barrier", t.where);
  }
  changed();
  block_current(thread_state::ended);
  ++b.ended;
  --b.of->alive;
  warp_state& w = *t.warp;
  unsigned const lane = t.rank % 32;
  w.ended |= 1u << lane;
  for (unsigned l = 0; l < 32; ++l) {
    if ((w.waiting >> l & 1u) == 0 || (w.masks[l] >> lane & 1u) == 0) continue;
    thread& other = threads_[w.first_thread + l];
    // A lane that waits for this one waits forever, or goes on now.
    if (w.who[l] != device::lanes::not_ended)
      misuse("lane ended, but a warp collective names it in its mask", other.where);
    complete_collective(other);
  }
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
