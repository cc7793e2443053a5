// SPDX-License-Identifier: Apache-2.0
// Threads that sleep until a word is written, and the passing of time when all of them do.

#include "machine.hpp"

#include <algorithm>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {
/// Time that passes when every thread sleeps.
constexpr std::uint64_t lapse_nanoseconds = 100'000'000;
constexpr std::uintptr_t granule(void const* address) {
  return reinterpret_cast<std::uintptr_t>(address) >> 3;
}
constexpr std::size_t slot_of(std::uintptr_t granule) {
  return (granule * 0x9e3779b1u) >> 4 & 0xffffu;
}
}  // namespace

void machine::begin_wait() {
  thread& t = *current_;
  t.waits = true;
  t.written = false;
  t.fresh = false;
  t.time_passed = false;
  waiting_.push_back(&t);
}

void machine::watch(void const* address) {
  current_->watched.push_back(granule(address));
  ++watch_counts_[slot_of(granule(address))];
}

void machine::end_wait() {
  thread& t = *current_;
  for (std::uintptr_t g : t.watched) --watch_counts_[slot_of(g)];
  t.watched.clear();
  t.waits = false;
  t.fresh = false;
  *std::find(waiting_.begin(), waiting_.end(), &t) = waiting_.back();
  waiting_.pop_back();
}

void machine::written(void const* address) {
  std::uintptr_t const g = granule(address);
  if (watch_counts_[slot_of(g)] == 0) return;
  for (thread* t : waiting_) {
    if (std::find(t->watched.begin(), t->watched.end(), g) == t->watched.end()) continue;
    t->written = true;
    if (t->state == thread_state::asleep) make_runnable(*t);
  }
}

bool machine::sleep(device::site const& where) {
  thread& t = *current_;
  // The thread may have seen older values: it sleeps only after a look at the newest ones.
  if (!t.written && settings_.weak_memory && !t.fresh) {
    t.fresh = random_.below(4) == 0;
    yield(where);
    return false;
  }
  if (!t.written) {
    block_current(thread_state::asleep);
    switch_out();
  }
  t.written = false;
  t.fresh = false;
  bool const time = t.time_passed;
  t.time_passed = false;
  return time;
}

void machine::wake_by_time() {
  bool anyone = false;
  for (thread const* t : waiting_) anyone = anyone || t->state == thread_state::asleep;
  if (!report_.deadlock) {
    report_.deadlock = true;
    ++report_.counts.deadlocks;
    report_.deadlock_text = "every thread sleeps" + where_everyone_is(nullptr, false);
  }
  if (!anyone || settings_.deadlock_is_error) {
    return fail(anyone ? "deadlock: every thread sleeps"
                       : "deadlock: a barrier or warp collective that not all its threads reach",
                running_->kernel.where, listing::all_with_calls);
  }
  lapse_ += lapse_nanoseconds;
  for (thread* t : waiting_) {
    t->time_passed = true;
    make_runnable(*t);
  }
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
