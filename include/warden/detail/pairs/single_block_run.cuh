// SPDX-License-Identifier: Apache-2.0
/// @file
/// Run of a log that has at most one window of sections: one block runs all of them on the records
/// in memory, without tile pairs. With tile pairs, even short ones, most blocks would wait for
/// others one after another, which takes longer.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs a log of few sections, by one block. `Ref` is a rounds_ref that has all records of an array
/// in one tile, in memory. `Worker` is a rounds_worker.
template <class Ref, class Worker>
class single_block_run {
  using message_type = typename Ref::message_type;
  using pairs = pair_words<typename Ref::format>;
  static constexpr unsigned threads = Ref::policy::block_threads;
  static constexpr unsigned per_thread = Worker::per_thread;
  using scan = simt::block_scan<threads>;

 public:
  /// Bytes of shared memory for tiles of these sizes, with windows halved `halvings` times.
  static constexpr std::size_t shared_bytes(tile_sizes sizes, unsigned halvings) {
    return layout{Worker::shared_bytes(sizes, Ref::halved(per_thread, halvings))}.carver.bytes();
  }

  /// Constructs the runner. `storage` is shared memory of `shared_bytes(ref.sizes(),
  /// ref.window_halvings)` bytes, the same for the whole block.
  WARDEN_DEVICE single_block_run(Ref const& ref, std::byte* storage)
      : ref_{ref},
        worker_{ref, layout{}.worker.in(storage).data()},
        scan_{layout{}.scanning.in(storage)},
        gathered_{layout{}.gathered.in(storage)} {}

  /// Runs the log's sections if they are few, and stores if they are. Grid: one block. Collective.
  WARDEN_DEVICE void run() {
    unsigned const me = simt::thread_rank();
    std::uint32_t const most = window();
    std::uint32_t mine = 0, all;
    for (std::uint32_t r = me; r <= ref_.log.last_shard; r += threads) {
      // Each count is below 2^31, and so is the sum of few sections.
      std::uint32_t const more = ref_.log.shards[r].flat + ref_.log.shards[r].batches;
      mine = more > most || mine > most ? most + 1 : mine + more;
    }
    static_cast<void>(scan::exclusive_sum(scan_[0], mine, all));
    bool const are_few = all <= most;
    if (me == 0) {
      ref_.bins.control->are_few = are_few ? 1 : 0;  // mutation: few-noted
      ref_.bins.control->placed = 0;
      ref_.bins.control->tile_pairs = 0;
      ref_.bins.control->next_tile_pair = 0;
      gathered_[0] = 0;
    }
    if (!are_few) return;
    worker_.start();
    simt::sync_block();
    gather(most);
    simt::sync_block();
    std::uint32_t const count = gathered_[0] < most ? gathered_[0] : most;
    message_type m[per_thread];
    unsigned arrived = 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < per_thread; ++k) {
      std::uint32_t const i = k * threads + me;
      if (i >= count) continue;
      arrived |= 1u << k;
      m[k] = ref_.bins.pool[i];
    }
    static_cast<void>(worker_.run(m, arrived));
  }

 private:
  struct layout {
    std::size_t worker_bytes = 0;
    arena_carver carver{};
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
    arena_piece<std::uint32_t> gathered = carver.take<std::uint32_t>(1);
    // Last, because its size is known only at run time.
    arena_piece<std::byte> worker = carver.take<std::byte>(worker_bytes, arena_alignment);
  };

  /// Returns the number of sections that count as few: those of a window.
  WARDEN_DEVICE std::uint32_t window() const {
    return ref_.window_per_thread(per_thread) * threads;
  }

  /// Collects the messages of all batches, at most `most`, with slots in place of ids. A warp
  /// handles a batch.
  WARDEN_DEVICE void gather(std::uint32_t most) const {
    std::uint32_t const rows = ref_.log.rows_written(), size = ref_.log.size;
    std::uint32_t invalid = 0;
    for (std::uint32_t row = simt::warp_rank(); row < rows; row += threads / simt::warp_size) {
      std::uint32_t const begin = ref_.log.begins[row];
      std::uint32_t const count = *ref_.log.offset(ref_.log.partitions.partitions(), row);
      // An unwritten row: a kernel was sending.
      if (begin > size || count > size - begin) continue;
      for (std::uint32_t i = simt::lane_id(); i < count; i += simt::warp_size) {
        message_type const m = ref_.log.pool[begin + i];
        std::uint32_t const first = m.local(), second = pairs::second_of(m);
        if (first >= ref_.size || second >= ref_.seconds().size) {
          ++invalid;
          continue;
        }
        // No more than were counted, unless a kernel was sending.
        std::uint32_t const place = simt::shared_fetch_add(gathered_[0], 1u);
        if (place >= most || place >= size) {
          ++invalid;
          continue;
        }
        ref_.bins.pool[place] = pairs::with_numbers(m, worker_.slot_of(0, first),
                                                    worker_.slot_of(Ref::two_arrays, second));
      }
    }
    if (invalid != 0) simt::fetch_add(&ref_.report->not_whole, std::uint64_t{invalid});
  }

  Ref const& ref_;
  Worker worker_;
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<std::uint32_t> gathered_;  ///< number of messages collected
};

}  // namespace detail
WARDEN_NAMESPACE_END
