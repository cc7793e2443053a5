// SPDX-License-Identifier: Apache-2.0
// Barriers and warp collectives of the simulated device, as rendezvous that complain.

#include "machine.hpp"

#include <algorithm>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

bool machine::sync_block(bool value, bool reduces, device::site const& where) {
  step(device::operation::sync_block, where);
  thread& t = *current_;
  block& b = *t.home;
  if (b.ended != 0) {
    misuse("barrier reached after " + std::to_string(b.ended) + " threads of the block have ended",
           where);
  }
  if (b.at_barrier == 0) b.barrier_or = false;
  b.barrier_or = b.barrier_or || value;
  t.barrier_reduces = reduces;
  ++b.at_barrier;
  if (b.at_barrier == b.threads) {
    complete_barrier(b);
  } else {
    block_current(thread_state::at_barrier);
    switch_out();
  }
  return t.result != 0;
}

void machine::complete_barrier(block& b) {
  b.at_barrier = 0;
  ++b.barriers;
  std::vector<thread_order*> meeting;
  for (unsigned n = b.first_thread; n < b.first_thread + b.threads; ++n) {
    thread& t = threads_[n];
    if (t.barrier_reduces != current_->barrier_reduces) {
      misuse("threads of one block meet at different kinds of barrier", t.where);
    }
    t.result = b.barrier_or;
    meeting.push_back(&t.order);
    if (&t != current_) make_runnable(t);
  }
  if (settings_.weak_memory) thread_order::meet(meeting);
  // Others first, but nobody has been spinning here.
  budget_ = std::min<std::int64_t>(budget_, 1);
  made_way_ = true;
}

std::uint64_t machine::warp(device::collective kind, unsigned mask, std::uint64_t value,
                            unsigned source, device::site const& where) {
  step(device::operation::collective, where);
  thread& t = *current_;
  if ((mask >> (t.rank % 32) & 1u) == 0)
    misuse("warp collective whose mask lacks the calling lane", where);
  t.kind = kind;
  t.mask = mask;
  t.value = value;
  t.source = source;
  if (!complete_collective(t)) {
    block_current(thread_state::in_collective);
    switch_out();
  }
  return t.result;
}

bool machine::complete_collective(thread& t) {
  unsigned const first = t.number - t.rank % 32;
  unsigned const end = t.home->first_thread + t.home->threads;
  for (unsigned l = 0; l < 32; ++l) {
    if ((t.mask >> l & 1u) == 0 || first + l == t.number) continue;
    if (first + l >= end)
      misuse("warp collective whose mask names lane " + std::to_string(l) + ", beyond the block",
             t.where);
    thread const& other = threads_[first + l];
    if (other.state == thread_state::ended) {
      misuse("warp collective whose mask names lane " + std::to_string(l) + ", which has ended",
             t.where);
    }
    if (other.state != thread_state::in_collective) return false;
    if (other.mask != t.mask || other.kind != t.kind) {
      if ((other.mask >> (t.rank % 32) & 1u) == 0) return false;  // busy in one of its own
      misuse("lanes of a warp meet in different collectives, or with different masks", t.where);
    }
  }
  std::vector<thread_order*> meeting;
  for (unsigned l = 0; l < 32; ++l) {
    if ((t.mask >> l & 1u) == 0) continue;
    thread& other = threads_[first + l];
    collective_result(other, t.mask);
    meeting.push_back(&other.order);
  }
  // Shuffles and votes pass values and order nothing else.
  if (t.kind == device::collective::sync && settings_.weak_memory) thread_order::meet(meeting);
  for (unsigned l = 0; l < 32; ++l) {
    if ((t.mask >> l & 1u) != 0 && first + l != t.number) make_runnable(threads_[first + l]);
  }
  return true;
}

void machine::collective_result(thread& t, unsigned mask) {
  unsigned const first = t.number - t.rank % 32;
  t.result = 0;
  if (t.kind == device::collective::shuffle) {
    if ((mask >> (t.source % 32) & 1u) == 0)
      misuse("shuffle from a lane that the mask lacks", t.where);
    t.result = threads_[first + t.source % 32].value;
    return;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1u) == 0) continue;
    std::uint64_t const value = threads_[first + l].value;
    bool const counts = t.kind == device::collective::ballot ? value != 0 : value == t.value;
    t.result |= std::uint64_t{counts} << l;
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
