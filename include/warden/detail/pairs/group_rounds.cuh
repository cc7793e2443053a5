// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups of lanes run the sections between the records of two tiles that a block holds. Each group
/// takes the locks of its lanes' messages, in shared memory, one message after another.
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

/// Worker for sections that a group of lanes runs together; rounds_worker is for sections of one
/// thread.
template <class Ref>
class group_rounds_worker {
  using sections = pair_sections<Ref>;
  using message_type = typename sections::message_type;
  using store = typename sections::store;
  using table = typename sections::table;

 public:
  /// Threads of the block.
  static constexpr unsigned threads = Ref::policy::block_threads;
  /// Maximum of messages of a thread in one window.
  static constexpr unsigned per_thread = std::max<unsigned>(1, 64 / sizeof(message_type));

  /// Bytes of shared memory for tiles of these sizes, independent of the window's size.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(tile_sizes sizes, unsigned) {
    return layout{sizes}.carver.bytes();
  }

  /// Constructs a worker. `storage` is the same for the whole block.
  WARDEN_DEVICE group_rounds_worker(Ref const& ref, std::byte* storage)
      : group_rounds_worker{ref, storage, layout{ref.sizes()}} {}

  /// Frees all locks. Collective; a block barrier follows.
  WARDEN_DEVICE void start() const { locks_.clear(); }
  /// Loads the records of two tiles, as pair_store.
  WARDEN_DEVICE void load(two_tiles pair) { sections_.records().load(pair); }
  /// Takes two tiles, but loads only the records of this thread's messages. Collective.
  WARDEN_DEVICE void load(two_tiles pair, message_type const (&m)[per_thread], unsigned arrived) {
    sections_.records().hold(pair);
    sections::for_each_record(m, arrived,
                              [&](std::uint32_t slot) { sections_.records().load(slot); });
  }
  /// Writes back the records of this thread's messages. Collective, after a barrier.
  WARDEN_DEVICE void write_back(message_type const (&m)[per_thread], unsigned arrived) const {
    sections::for_each_record(m, arrived,
                              [&](std::uint32_t slot) { sections_.records().write_back(slot); });
  }
  /// Writes back all records, as pair_store.
  WARDEN_DEVICE void write_back() const { sections_.records().write_back(); }
  /// Returns the slot of a tile's record; `side` is 0 for the first tile, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return sections_.records().slot_of(side, local);
  }

  /// Runs the messages `m[k]` of the bits k of `arrived`. Collective over the block. Returns false
  /// if the run is poisoned.
  WARDEN_DEVICE bool run(message_type const (&m)[per_thread], unsigned arrived) const {
    lane_group<Ref::group_size> const lanes;
    auto const run_one = [&](message_type const& one) { sections_.run_together(lanes, one); };
    auto const wait = [this](lock_pair wanted) {
      return wait_for_locks(ref_, locks_, wanted, simt::block_rank());
    };
    std::uint32_t failures = 0;
    bool alive = true;
    // One copy of every section: the messages move up in `next`, because a variable index would put
    // them into local memory.
    message_type next[per_thread];
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) next[k] = m[k];
    WARDEN_NO_UNROLL
    for (unsigned k = 0; k < per_thread && alive; ++k) {
      bool const has_message = (arrived >> k & 1u) != 0;
      lock_pair wanted{0, 0};
      if (has_message) wanted = sections::locks_of(next[0]);
      alive = run_under_locks(lanes, locks_, next[0], wanted, has_message, failures, run_all{},
                              run_one, wait);
      WARDEN_UNROLL
      for (unsigned j = 0; j + 1 < per_thread; ++j) next[j] = next[j + 1];
    }
    return !simt::sync_block_or(!alive);  // mutation: poisoned-group
  }

 private:
  struct layout {
    tile_sizes sizes;
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

/// Worker that a run needs.
template <class Ref>
using rounds_worker_of =
    std::conditional_t<(Ref::group_size > 1), group_rounds_worker<Ref>, rounds_worker<Ref>>;

}  // namespace detail
WARDEN_NAMESPACE_END
