// SPDX-License-Identifier: Apache-2.0
// Barriers and warp collectives of the simulated device, which report misuse.

#include "machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Lanes wait for others in `active_mask` for fewer than 2 to this power turns. So all lanes of a
/// warp meet in some schedules, and few in others.
constexpr std::uint32_t most_gathering_bits = 10;

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
  t.barrier = kind;
  t.from = from;
  t.vote = value;
  ++b.at_barrier;
  if (b.at_barrier == b.threads) {
    complete_barrier(b);
  } else {
    block_current(thread_state::at_barrier);
    switch_out();
  }
  end_turn_if_spinning();
  return t.barrier_count;
}

void machine::complete_barrier(block& b) {
  b.at_barrier = 0;
  ++b.barriers;
  meeting_.clear();
  for (unsigned n = b.first_thread; n < b.first_thread + b.threads; ++n) {
    thread& t = threads_[n];
    if (t.barrier != current_->barrier) {
      misuse("threads of one block meet at different kinds of barrier", t.where);
    }
    if (t.from == device::coming::from_one_place && !same(t.where, current_->where)) {
      misuse("threads of one block meet at different barriers", t.where);
    }
    t.barrier_count = b.barrier_count;
    meeting_.push_back(&t);
    add_look(t, t.vote ? 1 : 0, t.barrier_count);
    if (&t != current_) make_runnable(t);
  }
  met(true);
  // Others first.
  budget_ = std::min<std::int64_t>(budget_, 1);
}

/// Blocks of a cluster begin together, so no other block takes the place of one of them.
std::span<block> machine::cluster_of(block const& b) {
  std::vector<block>& all = b.of->blocks;
  unsigned const size = b.of->kernel.shape.cluster;
  if (size == 1) return {all.data() + (&b - all.data()), 1};
  return {all.data() + b.rank / size * size, size};
}

void machine::sync_cluster(device::site const& where) {
  step(device::operation::sync_block, where);
  std::span<block> const blocks = cluster_of(*current_->home);
  unsigned coming = 0, there = 1;
  for (block const& b : blocks) {
    if (b.ended != 0) {
      misuse("barrier of a cluster reached after " + std::to_string(b.ended) +
                 " threads of its block " + std::to_string(b.rank) + " have ended",
             where);
    }
    coming += b.threads;
    there += b.at_cluster_barrier;
  }
  if (there == coming) {
    complete_cluster_barrier(blocks);
  } else {
    ++current_->home->at_cluster_barrier;
    block_current(thread_state::at_cluster_barrier);
    switch_out();
  }
  end_turn_if_spinning();
}

void machine::complete_cluster_barrier(std::span<block> blocks) {
  meeting_.clear();
  for (block& b : blocks) {
    b.at_cluster_barrier = 0;
    ++b.barriers;
    for (unsigned n = b.first_thread; n < b.first_thread + b.threads; ++n) {
      meeting_.push_back(&threads_[n]);
      add_look(threads_[n], 0, 0);
      if (&threads_[n] != current_) make_runnable(threads_[n]);
    }
  }
  met(true);
  budget_ = std::min<std::int64_t>(budget_, 1);
}

std::uint64_t machine::warp(device::collective kind, unsigned mask, std::uint64_t value,
                            unsigned source, device::lanes who, device::site const& where) {
  step(device::operation::collective, where);
  thread& t = *current_;
  unsigned const lane = t.rank % 32;
  if ((mask >> lane & 1u) == 0) misuse("warp collective whose mask lacks the calling lane", where);
  warp_state& w = *t.warp;
  w.kinds[lane] = kind;
  w.masks[lane] = mask;
  w.values[lane] = value;
  w.sources[lane] = source % 32;
  w.who[lane] = who;
  if (!complete_collective(t)) {
    w.waiting |= 1u << lane;
    block_current(thread_state::in_collective);
    switch_out();
  }
  end_turn_if_spinning();
  return w.results[lane];
}

/// Lanes wait until all lanes of the warp have come, or for some turns. Then the lanes that are at
/// one place get one mask.
unsigned machine::active_mask(device::site const& where) {
  step(device::operation::collective, where);
  thread const& t = *current_;
  warp_state& w = *t.warp;
  unsigned const lane = t.rank % 32, mine = 1u << lane;
  if (w.gathering == 0) w.gathering_turns = random_.below(1u << random_.below(most_gathering_bits));
  w.gathering |= mine;
  while ((w.gathering & mine) != 0 && w.gathering != (w.lanes & ~w.ended) &&
         w.gathering_turns != 0) {
    --w.gathering_turns;
    yield(where);
  }
  if ((w.gathering & mine) == 0) return static_cast<unsigned>(w.results[lane]);
  unsigned mask = 0;
  for (unsigned left = w.gathering; left != 0; left &= left - 1) {
    auto const other = static_cast<unsigned>(std::countr_zero(left));
    if (same(threads_[w.first_thread + other].where, where)) mask |= 1u << other;
  }
  for (unsigned left = mask; left != 0; left &= left - 1)
    w.results[static_cast<unsigned>(std::countr_zero(left))] = mask;
  w.gathering &= ~mask;
  return mask;
}

/// True if all lanes have come; then `t` goes on, and so do the others.
bool machine::complete_collective(thread& t) {
  warp_state& w = *t.warp;
  unsigned const lane = t.rank % 32, mask = w.masks[lane];
  unsigned const coming = mask & w.lanes & ~w.ended;
  if (coming != mask && w.who[lane] != device::lanes::not_ended) {
    auto const missing = static_cast<unsigned>(std::countr_zero(mask & ~coming));
    bool const beyond = (w.lanes >> missing & 1u) == 0;
    misuse("warp collective whose mask names lane " + std::to_string(missing) +
               (beyond ? ", beyond the block" : ", which has ended"),
           t.where);
  }
  unsigned const others = coming & ~(1u << lane);
  // Before all have come, one waiting lane stands for those that wait with it.
  unsigned const there = others & w.waiting;
  for (unsigned left = there == others ? others : there & -there; left != 0; left &= left - 1) {
    auto const other = static_cast<unsigned>(std::countr_zero(left));
    bool const is_group =
        w.who[lane] == device::lanes::together || w.who[other] == device::lanes::together;
    bool const meets = w.masks[other] == mask && w.kinds[other] == w.kinds[lane];
    device::site const& place = threads_[w.first_thread + other].where;
    if (meets && (!is_group || same(place, t.where))) continue;
    if ((w.masks[other] >> lane & 1u) == 0) return false;  // busy in one of its own
    if (is_group && w.masks[other] == mask) {
      misuse(
          "lanes that run a section together meet in different collectives: all of them come to "
          "each of its group's",
          t.where);
    }
    misuse("lanes of a warp meet in different collectives, or with different masks", t.where);
  }
  if (there != others) return false;
  collective_results(w, lane, coming);
  w.waiting &= ~coming;
  meeting_.clear();
  for (unsigned left = coming; left != 0; left &= left - 1) {
    auto const l = static_cast<unsigned>(std::countr_zero(left));
    thread& one = threads_[w.first_thread + l];
    meeting_.push_back(&one);
    // A shift may return garbage, so its result tells nothing new.
    bool const tells = w.kinds[lane] != device::collective::shift;
    add_look(one, w.values[l], tells ? w.results[l] : 0);
    if (&one != current_) make_runnable(one);
  }
  // Shuffles and votes pass values and order nothing else.
  met(w.kinds[lane] == device::collective::sync);
  return true;
}

/// Stores the results of the lanes `coming`, of which `lane` is one.
void machine::collective_results(warp_state& w, unsigned lane, unsigned coming) {
  unsigned ballot = 0;
  for (unsigned left = coming; left != 0; left &= left - 1) {
    auto const one = static_cast<unsigned>(std::countr_zero(left));
    ballot |= (w.values[one] != 0 ? 1u : 0u) << one;
  }
  for (unsigned left = coming; left != 0; left &= left - 1) {
    auto const one = static_cast<unsigned>(std::countr_zero(left));
    unsigned const source = w.sources[one];
    std::uint64_t& result = w.results[one];
    switch (w.kinds[lane]) {
      case device::collective::sync:
        result = 0;
        break;
      case device::collective::ballot:
        result = ballot;
        break;
      case device::collective::match:
        result = 0;
        for (unsigned l = 0; l < 32; ++l)
          result |= std::uint64_t{w.values[l] == w.values[one]} << l;
        result &= coming;
        break;
      case device::collective::shuffle:
        if ((coming >> source & 1u) == 0) {
          misuse((w.masks[one] >> source & 1u) == 0 ? "shuffle from a lane that the mask lacks"
                                                    : "shuffle from a lane that has ended",
                 threads_[w.first_thread + one].where);
        }
        result = w.values[source];
        break;
      case device::collective::shift:
        result = (coming >> source & 1u) != 0 ? w.values[source] : random_.next();
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
