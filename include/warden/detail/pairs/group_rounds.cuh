// SPDX-License-Identifier: Apache-2.0
/// @file
/// How groups of lanes run the sections between the records of two parts that a block holds: under
/// locks in shared memory, each group those of its lanes' messages in turn.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/execute/group_locks.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/detail/pairs/pair_sections.cuh>
#include <warden/detail/pairs/rounds.cuh>
#include <warden/detail/pairs/two_array_store.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What rounds_worker is where a thread runs a section alone.
template <class Ref>
class group_rounds_worker {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using store = typename sections::store;
  using table = typename sections::table;

 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Messages of a thread in one window, at most.
  static constexpr unsigned rounds = std::max<unsigned>(1, 64 / sizeof(message_type));

  /// Bytes of shared memory for parts of these sizes, and windows of any number of rounds.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(part_sizes sizes, unsigned) {
    return layout{sizes}.carver.bytes();
  }

  /// `storage` is the same for the whole block.
  WARDEN_DEVICE group_rounds_worker(Ref const& ref, std::byte* storage)
      : group_rounds_worker{ref, storage, layout{ref.sizes()}} {}

  /// All locks free. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const { locks_.clear(); }
  /// Takes the records of two parts, as pair_store.
  WARDEN_DEVICE void load(part_pair pair) { sections_.records().load(pair); }
  /// The same, but of their records only those of this thread's messages. Collective.
  WARDEN_DEVICE void load(part_pair pair, message_type const (&m)[rounds], unsigned arrived) {
    sections_.records().hold(pair);
    sections::for_each_record(m, arrived,
                              [&](std::uint32_t slot) { sections_.records().load(slot); });
  }
  /// Gives those back. Collective, behind a barrier.
  WARDEN_DEVICE void write_back(message_type const (&m)[rounds], unsigned arrived) const {
    sections::for_each_record(m, arrived,
                              [&](std::uint32_t slot) { sections_.records().write_back(slot); });
  }
  /// Gives them back, as pair_store.
  WARDEN_DEVICE void write_back() const { sections_.records().write_back(); }
  /// The slot of a part's record; `side` is 0 for the first part, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return sections_.records().slot_of(side, local);
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`. Collective over the block. False once the
  /// run is poisoned.
  WARDEN_DEVICE bool run(message_type const (&m)[rounds], unsigned arrived) const {
    lane_group<Ref::group_size> const lanes;
    auto const run_one = [&](message_type const& one) { sections_.run_together(lanes, one); };
    auto const wait = [this](lock_pair wanted) {
      return wait_for_locks(ref_, locks_, wanted, simt::block_rank());
    };
    std::uint32_t in_vain = 0;
    bool alive = true;
    // One copy of every section: the messages move up, as none is named by a variable.
    message_type next[rounds];
    WARDEN_UNROLL
    for (unsigned k = 0; k < rounds; ++k) next[k] = m[k];
    WARDEN_NO_UNROLL
    for (unsigned k = 0; k < rounds && alive; ++k) {
      bool const is = (arrived >> k & 1u) != 0;
      lock_pair wanted{0, 0};
      if (is) wanted = sections::locks_of(next[0]);
      alive =
          run_under_locks(lanes, locks_, next[0], wanted, is, in_vain, run_all{}, run_one, wait);
      WARDEN_UNROLL
      for (unsigned j = 0; j + 1 < rounds; ++j) next[j] = next[j + 1];
    }
    return !simt::sync_block_or(!alive);  // mutation: poisoned-group
  }

 private:
  struct layout {
    part_sizes sizes;
    arena_carver carver{};
    arena_piece<std::uint32_t> locks = carver.take<std::uint32_t>(sections::lock_count);
    typename store::pieces records = store::carve(carver, sizes);
  };

  WARDEN_DEVICE group_rounds_worker(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref}, sections_{ref, at.records, storage}, locks_{at.locks.in(storage)} {}

  Ref const& ref_;
  sections sections_;
  table locks_;
};

/// The one that a run needs.
template <class Ref>
using rounds_worker_of =
    std::conditional_t<(Ref::group_size > 1), group_rounds_worker<Ref>, rounds_worker<Ref>>;

}  // namespace detail
WARDEN_NAMESPACE_END
