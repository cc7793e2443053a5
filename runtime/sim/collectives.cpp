// SPDX-License-Identifier: Apache-2.0
// Barriers and warp collectives of the simulated device, as rendezvous that complain.

#include "machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

bool same(device::site const& a, device::site const& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

unsigned machine::sync_block(device::barrier kind, bool value, device::coming from,
                             device::site const& where) {
  step(device::operation::sync_block, where);
  thread& t = *current_;
  block& b = *t.home;
  if (b.ended != 0) {
    misuse("barrier reached after " + std::to_string(b.ended) + " threads of the block have ended",
           where);
  }
  if (b.at_barrier == 0) b.barrier_count = 0;
  b.barrier_count += value ? 1 : 0;
  got_on();
  t.barrier = kind;
  t.from = from;
  ++b.at_barrier;
  if (b.at_barrier == b.threads) {
    complete_barrier(b);
  } else {
    block_current(thread_state::at_barrier);
    switch_out();
  }
  return static_cast<unsigned>(t.result);
}

void machine::complete_barrier(block& b) {
  b.at_barrier = 0;
  ++b.barriers;
  std::vector<thread_order*> meeting;
  for (unsigned n = b.first_thread; n < b.first_thread + b.threads; ++n) {
    thread& t = threads_[n];
    if (t.barrier != current_->barrier) {
      misuse("threads of one block meet at different kinds of barrier", t.where);
    }
    if (t.from == device::coming::from_one_place && !same(t.where, current_->where)) {
      misuse("threads of one block meet at different barriers", t.where);
    }
    t.result = b.barrier_count;
    meeting.push_back(&t.order);
    if (&t != current_) make_runnable(t);
  }
  if (settings_.weak_memory) thread_order::meet(meeting);
  // Others first, but nobody has been spinning here.
  budget_ = std::min<std::int64_t>(budget_, 1);
  made_way_ = true;
}

std::uint64_t machine::warp(device::collective kind, unsigned mask, std::uint64_t value,
                            unsigned source, device::lanes who, device::site const& where) {
  step(device::operation::collective, where);
  thread& t = *current_;
  if ((mask >> (t.rank % 32) & 1u) == 0)
    misuse("warp collective whose mask lacks the calling lane", where);
  got_on();
  t.kind = kind;
  t.mask = mask;
  t.value = value;
  t.source = source;
  t.who = who;
  if (!complete_collective(t)) {
    block_current(thread_state::in_collective);
    switch_out();
  }
  return t.result;
}

/// Whether the lane of `t`'s mask is one that comes, too; it need not be there yet.
bool machine::comes_to_collective(thread const& t, unsigned lane) const {
  if ((t.mask >> lane & 1u) == 0) return false;
  unsigned const number = t.number - t.rank % 32 + lane;
  return number < t.home->first_thread + t.home->threads &&
         threads_[number].state != thread_state::ended;
}

/// If all are there; `t` is, and others than it go on.
bool machine::complete_collective(thread& t) {
  unsigned const first = t.number - t.rank % 32;
  unsigned coming = 0;
  for (unsigned l = 0; l < 32; ++l) {
    if ((t.mask >> l & 1u) == 0) continue;
    if (!comes_to_collective(t, l)) {
      if (t.who == device::lanes::not_ended) continue;
      bool const beyond = first + l >= t.home->first_thread + t.home->threads;
      misuse("warp collective whose mask names lane " + std::to_string(l) +
                 (beyond ? ", beyond the block" : ", which has ended"),
             t.where);
    }
    coming |= 1u << l;
    thread const& other = threads_[first + l];
    if (&other == &t) continue;
    if (other.state != thread_state::in_collective) return false;
    if (other.mask != t.mask || other.kind != t.kind) {
      if ((other.mask >> (t.rank % 32) & 1u) == 0) return false;  // busy in one of its own
      misuse("lanes of a warp meet in different collectives, or with different masks", t.where);
    }
  }
  std::array<thread*, 32> meeting;
  unsigned count = 0;
  for (unsigned left = coming; left != 0; left &= left - 1)
    meeting[count++] = &threads_[first + static_cast<unsigned>(std::countr_zero(left))];
  std::span<thread* const> const all{meeting.data(), count};
  collective_results(all, coming);
  // Shuffles and votes pass values and order nothing else.
  if (t.kind == device::collective::sync && settings_.weak_memory) {
    std::vector<thread_order*> orders;
    for (thread* one : all) orders.push_back(&one->order);
    thread_order::meet(orders);
  }
  for (thread* one : all) {
    if (one != current_) make_runnable(*one);
  }
  return true;
}

/// What the threads that meet, those of the lanes `coming`, get.
void machine::collective_results(std::span<thread* const> meeting, unsigned coming) {
  std::array<std::uint64_t, 32> values{};  // [lane]
  unsigned ballot = 0;
  for (thread const* one : meeting) {
    unsigned const lane = one->rank % 32;
    values[lane] = one->value;
    ballot |= (one->value != 0 ? 1u : 0u) << lane;
  }
  for (thread* one : meeting) {
    unsigned const source = one->source % 32;
    switch (one->kind) {
      case device::collective::sync:
        one->result = 0;
        break;
      case device::collective::ballot:
        one->result = ballot;
        break;
      case device::collective::match:
        one->result = 0;
        for (unsigned l = 0; l < 32; ++l)
          one->result |= std::uint64_t{values[l] == one->value} << l;
        one->result &= coming;
        break;
      case device::collective::shuffle:
        if ((coming >> source & 1u) == 0) {
          misuse((one->mask >> source & 1u) == 0 ? "shuffle from a lane that the mask lacks"
                                                 : "shuffle from a lane that has ended",
                 one->where);
        }
        one->result = values[source];
        break;
      case device::collective::shift:
        one->result = (coming >> source & 1u) != 0 ? values[source] : random_.next();
        break;
    }
  }
}

void machine::begin_collective(void const* storage, device::site const& where) {
  auto const used = storage_used_.find(storage);
  if (used != storage_used_.end() && used->second == current_->home->barriers) {
    misuse("a collective's storage is used again without a barrier of the block in between", where);
  }
}
void machine::end_collective(void const* storage) {
  storage_used_[storage] = current_->home->barriers;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
