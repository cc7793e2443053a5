// SPDX-License-Identifier: Apache-2.0
// Threads that poll: they lose their priority, and if no thread does anything else it is a
// deadlock.

#include "device_memory.hpp"
#include "machine.hpp"

#include <algorithm>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Looks at nothing new, after which a thread falls below all others. Only another thread can then
/// change the value that it waits for, so more looks are useless.
constexpr std::uint64_t tolerated_looks = 100;
/// A thread is quiet only if it has looked in vain once in this many steps of the limit.
constexpr std::uint64_t steps_per_look = 10'000;

/// When nothing has changed for this many steps, work of other streams begins: it may be what the
/// threads wait for.
constexpr std::uint64_t quiet_steps_before_others = 20'000;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}
std::uint64_t hash_of(device::site const& where) {
  return mix(reinterpret_cast<std::uintptr_t>(where.file_name()),
             std::uint64_t{where.line()} << 32 | where.column());
}

}  // namespace

void machine::add_look(thread& t, std::uint64_t first, std::uint64_t second) {
  if (t.looks.since() != changes_) t.looks.begin(changes_);
  std::uint64_t const hash = mix(mix(hash_of(t.where), first), second) * 0xbf58476d1ce4e5b9ull;
  t.looks.add(hash ^ hash >> 32);
}

/// The thread has read a word and changed nothing.
void machine::polled(void const* address, unsigned size, std::uint64_t value) {
  thread& t = *current_;
  t.read = {reinterpret_cast<std::uintptr_t>(address), size};
  add_look(t, t.read.address, value);
  end_turn_if_spinning();
}

/// The threads `meeting_` have come to a rendezvous, which `orders` their earlier and later
/// operations.
void machine::met(bool orders) {
  looks::meet(meeting_, [](thread* t) -> looks& { return t->looks; });
  if (warp_accesses_ != nullptr) warp_accesses_->meet(meeting_);
  if (!orders || !settings_.weak_memory) return;
  meeting_orders_.clear();
  for (thread* t : meeting_) meeting_orders_.push_back(&t->order);
  thread_order::meet(meeting_orders_);
}

/// Memory has a new value, or a thread has begun or ended.
void machine::changed() {
  ++changes_;
  changed_at_ = steps();
}

bool machine::spins(thread const& t) const {
  return t.looks.since() == changes_ && t.looks.only_repeats(tolerated_looks);
}

void machine::end_turn_if_spinning() {
  thread& t = *current_;
  if (settings_.order == schedule::pct && t.looks.recently_repeated() >= tolerated_looks) {
    t.looks.forgive();
    t.allowance = 0;
    budget_ = std::min<std::int64_t>(budget_, 1);
  }
  if (steps() >= quiet_check_at_) check_quiet();
}

void machine::check_quiet() {
  std::uint64_t const most = others.may_begin
                                 ? std::min(settings_.max_quiet_steps, quiet_steps_before_others)
                                 : settings_.max_quiet_steps;
  quiet_check_at_ = changed_at_ + most;
  if (steps() < quiet_check_at_) return;
  if (others.may_begin) {
    stuck_ = true;
    budget_ = 0;
    return;
  }
  quiet_check_at_ = steps() + most / 16;
  // A thread in wait_until has a time limit of its own.
  if (!waiting_.empty()) return;
  auto const is_quiet = [&](candidate const& c) {
    thread const& t = threads_[c.number];
    return t.clock_read_at != changes_ && t.looks.since() == changes_ &&
           t.looks.only_repeats(most / steps_per_look + 1);
  };
  if (!std::all_of(runnable_.begin(), runnable_.end(), is_quiet)) return;
  // Plain stores are noticed by their effect on memory, between two such moments.
  std::uint64_t const now = memory_hash();
  if (hashed_at_change_ != changes_) {
    hashed_at_change_ = changes_;
    memory_hash_ = now;
  } else if (memory_hash_ != now) {
    changed();
  } else {
    deadlock("deadlock: for " + std::to_string(steps() - changed_at_) +
             " steps no thread has changed memory, and all threads that can run (" +
             std::to_string(runnable_.size()) +
             ") only read again what they have read (if they compute: settings::max_quiet_steps, "
             "or WARDEN_MAX_QUIET_STEPS)");
  }
}

std::uint64_t machine::memory_hash() const {
  std::uint64_t hash = memory().hash();
  for (running_launch const& l : launches_) {
    hash = hash_bytes(l.arenas, hash);
    for (block const& b : l.blocks) {
      for (static_object const& o : b.statics) hash = hash_bytes({o.begin, o.bytes}, hash);
    }
  }
  return hash;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
