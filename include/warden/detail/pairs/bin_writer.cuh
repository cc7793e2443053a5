// SPDX-License-Identifier: Apache-2.0
/// @file
/// Splits each partition of a log into bins. The partition depends on the tile of one record of a
/// message. The bin depends on the tile of the other record.
///
/// A block counts a tile's messages by bin, reserves as many places, and reads the messages again
/// to put each in its place. So bins have no fixed capacity, and the pool has no more places than
/// the log.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deferred/segment_reader.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One block's share of that work. `Ref` is a rounds_ref.
template <class Ref>
class bin_writer {
  using message_type = typename Ref::message_type;
  using pairs = pair_words<typename Ref::format>;
  using bins = typename Ref::bins_type;
  using reader = segment_reader<message_type>;
  static constexpr unsigned threads = Ref::policy::block_threads;
  using scan = simt::block_scan<threads>;
  /// Messages that a thread loads at the same time.
  static constexpr unsigned at_once = std::max<unsigned>(1, 64 / sizeof(message_type));

 public:
  /// Bytes of shared memory if second records are in `others` tiles.
  static constexpr std::size_t shared_bytes(std::uint32_t others) {
    return layout{others}.carver.bytes();
  }

  /// Constructs a writer. `storage` is shared memory of `shared_bytes(others)` bytes, the same for
  /// the whole block.
  WARDEN_DEVICE bin_writer(Ref const& ref, std::byte* storage)
      : bin_writer{ref, storage, layout{ref.bins.schedule.others()}} {}

  /// Splits tiles until none is left. Collective over the block.
  WARDEN_DEVICE void run() const {
    // One load for all threads: a kernel that sends may take rows at the same time.
    if (simt::thread_rank() == 0) shared_[0].rows = ref_.log.rows_written();
    while (true) {
      if (simt::thread_rank() == 0)
        shared_[0].tile = simt::fetch_add(&ref_.log.control->next_partition, 1u);
      simt::sync_block();
      std::uint32_t const tile = shared_[0].tile;
      if (tile >= ref_.bins.schedule.homes()) return;
      split(tile, shared_[0].rows);
    }
  }

 private:
  /// Values that one thread shares with its block.
  struct found {
    std::uint32_t tile;   ///< next tile
    std::uint32_t rows;   ///< rows of the log
    std::uint32_t begin;  ///< first of the tile's places
  };
  struct layout {
    std::uint32_t others;
    arena_carver carver{};
    arena_piece<std::uint32_t> counts = carver.take<std::uint32_t>(others);
    arena_piece<std::uint32_t> begins = carver.take<std::uint32_t>(others + std::size_t{1});
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
    arena_piece<found> shared = carver.take<found>(1);
    arena_piece<typename reader::storage> reading = carver.take<typename reader::storage>(1);
  };

  WARDEN_DEVICE bin_writer(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        counts_{at.counts.in(storage)},
        begins_{at.begins.in(storage)},
        scan_{at.scanning.in(storage)},
        shared_{at.shared.in(storage)},
        reading_{at.reading.in(storage)} {}

  WARDEN_DEVICE void split(std::uint32_t tile, std::uint32_t rows) const {
    std::uint32_t const others = ref_.bins.schedule.others();
    unsigned const me = simt::thread_rank();
    for (std::uint32_t p = me; p < others; p += threads) counts_[p] = 0;
    simt::sync_block();
    std::uint32_t invalid = 0;
    for_each(tile, rows, [&](message_type const& m, bool is_valid) {
      if (is_valid) {
        simt::shared_fetch_add(counts_[tile_of_second(m)], 1u);
      } else {
        ++invalid;
      }
    });
    simt::sync_block();
    take_places(others);
    simt::sync_block();
    for_each(tile, rows, [&](message_type const& m, bool is_valid) {
      if (!is_valid) return;
      std::uint32_t const p = tile_of_second(m);
      std::uint32_t const rank = simt::shared_fetch_add(counts_[p], 0u - 1u) - 1;
      std::uint32_t const place = begins_[p] + rank;
      // This message was not there when messages were counted: a kernel was sending.
      if (static_cast<std::int32_t>(rank) < 0 || place >= ref_.log.size) {
        ++invalid;
        return;
      }
      ref_.bins.pool[place] = pairs::with_numbers(
          m, ref_.owners.local_of(m.local()), ref_.seconds().owners.local_of(pairs::second_of(m)));
    });
    if (invalid != 0) simt::fetch_add(&ref_.report->not_whole, std::uint64_t{invalid});
    simt::sync_block();
    note_ranges(tile, others);
    simt::sync_block();
  }

  /// Calls `f` with each message of the tile, and true if the message is valid.
  template <class F>
  WARDEN_DEVICE void for_each(std::uint32_t tile, std::uint32_t rows, F f) const {
    reader messages{ref_.log, tile, {0, rows}, reading_[0]};
    while (messages.has_more()) {
      message_type m[at_once];
      unsigned const arrived = messages.receive(m);
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if ((arrived >> k & 1u) == 0) continue;
        // Possibly an unwritten slot: a kernel was sending.
        std::uint32_t const id = m[k].local();
        f(m[k], id < ref_.size && ref_.owners.partition_of(id) == tile &&
                    pairs::second_of(m[k]) < ref_.seconds().size);
      }
    }
  }
  WARDEN_DEVICE std::uint32_t tile_of_second(message_type const& m) const {
    return ref_.seconds().owners.partition_of(pairs::second_of(m));  // mutation: wrong-bin
  }

  /// Turns counts into places. Collective.
  WARDEN_DEVICE void take_places(std::uint32_t others) const {
    std::uint32_t const each = (others + threads - 1) / threads;
    std::uint32_t const first = simt::thread_rank() * each;
    std::uint32_t sum = 0, total;
    for (std::uint32_t k = 0; k < each; ++k) sum += first + k < others ? counts_[first + k] : 0;
    std::uint32_t before = scan::exclusive_sum(scan_[0], sum, total);
    if (simt::thread_rank() == 0)
      shared_[0].begin = simt::fetch_add(&ref_.bins.control->placed, total);
    simt::sync_block();
    std::uint32_t const begin = shared_[0].begin;
    for (std::uint32_t k = 0; k < each && first + k < others; ++k) {
      begins_[first + k] = begin + before;
      before += counts_[first + k];
    }
    if (simt::thread_rank() == 0) begins_[others] = begin + total;
  }

  /// Stores where the tile's bins are, and which of them are not empty. Collective.
  WARDEN_DEVICE void note_ranges(std::uint32_t tile, std::uint32_t others) const {
    std::uint32_t const words = bins::words(others);
    for (std::uint32_t w = simt::warp_rank(); w < words; w += threads / simt::warp_size) {
      std::uint32_t const p = w * simt::warp_size + simt::lane_id();
      bin_range filled{0, 0};
      if (p < others) {
        // Bins are filled from the end. A message that was counted and never came is missing at the
        // front.
        auto const missing = static_cast<std::int32_t>(counts_[p]);
        std::uint32_t const end = begins_[p + 1] < ref_.log.size ? begins_[p + 1] : ref_.log.size;
        filled = {begins_[p] + (missing > 0 ? missing : 0), end};
        if (filled.begin > filled.end) filled.begin = filled.end;
        *ref_.bins.range(tile, ref_.bins.schedule.tile_of(p)) = filled;
      }
      unsigned const present = simt::ballot(simt::full_warp, filled.begin != filled.end);
      if (simt::lane_id() == 0) ref_.bins.present[std::size_t{tile} * words + w] = present;
    }
  }

  Ref const& ref_;
  simt::shared_span<std::uint32_t> counts_;  ///< [other] messages, then messages without a place
  simt::shared_span<std::uint32_t> begins_;  ///< [other, and one more] first place
  simt::shared_span<typename scan::storage> scan_;
  simt::shared_span<found> shared_;
  simt::shared_span<typename reader::storage> reading_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
