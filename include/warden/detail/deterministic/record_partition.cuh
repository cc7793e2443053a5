// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stable partition of a run's sections into buckets: records with one high digit of their id.
///
/// Blocks count the digits of their tiles, warps add up the counts of a digit, and blocks move
/// their tiles. Ids outside the records are left out.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/detail/deterministic/digit_sort.cuh>
#include <warden/detail/deterministic/ids_order.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of the blocks of a partition, and sections of a tile.
inline constexpr unsigned partition_threads = 512, tile_each = 16,
                          tile_sections = partition_threads * tile_each;
/// Sections of a piece, that a block holds in shared memory.
inline constexpr unsigned piece_each = 10, piece_sections = partition_threads * piece_each;

/// A bucket, or a part of it.
struct bucket_piece {
  std::uint32_t bucket;
  std::uint32_t begin;         ///< position of its first section
  std::uint32_t end;           ///< position after its last section
  std::uint32_t bucket_begin;  ///< position of the bucket's first section
  std::uint32_t bucket_end;    ///< position after the bucket's last section

  /// Returns the number of sections.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t size() const { return end - begin; }
};

/// Memory of a partition, in global memory.
struct partition_memory {
  std::uint32_t low_bits;  ///< bits of an id below its high digit
  std::uint32_t buckets;   ///< high digits are below it, at most `digits`
  std::uint32_t tiles;     ///< tiles of the run
  moved_id* sections;      ///< [n] by bucket
  /// [piece][low digit] their number; later that in pieces before. Aligned for two digits
  std::uint32_t* piece_digits;
  std::uint32_t* counts;        ///< [bucket][tile] sections
  std::uint32_t* totals;        ///< [bucket] sections
  std::uint32_t* begins;        ///< [bucket + 1] its first position
  std::uint32_t* first_pieces;  ///< [bucket + 1] its first piece, if it is large
  bucket_piece* pieces;         ///< [first_pieces[buckets]] of large buckets
  std::uint32_t* counted;       ///< [bucket] pieces whose low digits are counted
  std::uint32_t* low_begins;    ///< [bucket][low digit] first position in the bucket
  moved_id* sorted;             ///< [n] of large buckets; a low digit is in the place of the id
  ids_order order;              ///< if the ids ascend, the partition has no sections

  /// Returns the largest number of pieces of n sections. A large bucket has more than one.
  static constexpr std::size_t most_pieces(std::size_t n) { return 2 * n / piece_sections + 2; }
  /// Returns a bucket, if it has at most `piece_sections` sections, and otherwise nothing of it.
  [[nodiscard]] WARDEN_DEVICE bucket_piece small_bucket(std::uint32_t bucket) const {
    std::uint32_t const begin = begins[bucket], end = begins[bucket + 1];
    return {bucket, begin, end - begin > piece_sections ? begin : end, begin, end};
  }
  /// Returns the low digit of an id.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t low_digit(std::uint32_t id) const {
    return id & ((1u << low_bits) - 1);
  }
  /// Returns the number of pieces.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t piece_count() const { return first_pieces[buckets]; }
};

/// Reads the records of `Count` of the calling thread's sections in a tile; `no_digit` for none.
/// `item(k)` is the place of its section k. Calls `check(id, number)` for those that there are.
template <unsigned Count, class Arguments, class Item, class Check>
WARDEN_DEVICE void read_ids(Arguments const& a, std::uint32_t (&ids)[Count], Item const& item,
                            Check const& check) {
  std::uint64_t const tile = std::uint64_t{simt::block_rank()} * tile_sections;
  std::uint64_t all[Count];
  bool has[Count];
  WARDEN_UNROLL
  for (unsigned k = 0; k < Count; ++k) {
    std::uint64_t const i = tile + item(k);
    has[k] = i < a.n && a.bulk.id_of(a.first + i, all[k]);
  }
  WARDEN_UNROLL
  for (unsigned k = 0; k < Count; ++k)
    ids[k] = has[k] && check(all[k], a.first + tile + item(k)) ? static_cast<std::uint32_t>(all[k])
                                                               : no_digit;
}

/// Counts the digits of a tile. Grid: a block for each tile. Shared memory: a word for each digit.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    count_digits(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  if (m.order.ascends()) return;
  simt::shared_span<std::uint32_t> const counts{
      reinterpret_cast<std::uint32_t*>(simt::dynamic_shared()), digits};
  for (unsigned d = simt::thread_rank(); d < digits; d += partition_threads) counts[d] = 0;
  simt::sync_block();
  // All at once would take the registers of a further block.
  constexpr unsigned together = tile_each / 2;
  WARDEN_NO_UNROLL
  for (unsigned first = 0; first < tile_each; first += together) {
    std::uint32_t ids[together];
    read_ids(
        a, ids, [&](unsigned k) { return (first + k) * partition_threads + simt::thread_rank(); },
        [&](std::uint64_t id, std::uint64_t number) {
          return a.report->check(id, a.size, number);
        });
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (ids[k] != no_digit) simt::shared_fetch_add(counts[ids[k] >> m.low_bits], 1u);
    }
  }
  simt::sync_block();
  for (unsigned d = simt::thread_rank(); d < m.buckets; d += partition_threads)
    m.counts[std::size_t{d} * m.tiles + simt::block_rank()] = counts[d];
}

/// Makes each count the sum of those of earlier tiles. A warp for each bucket.
template <class Memory>
WARDEN_KERNEL void add_up_tiles(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr unsigned together = 8;
  std::uint32_t const digit =
      (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / simt::warp_size;
  if (digit >= m.buckets || m.order.ascends()) return;
  std::uint32_t* const counts = m.counts + std::size_t{digit} * m.tiles;
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < m.tiles; first += together * simt::warp_size) {
    std::uint32_t values[together];
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      std::uint32_t const t = first + k * simt::warp_size + simt::lane_id();
      values[k] = t < m.tiles ? counts[t] : 0;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      std::uint32_t const t = first + k * simt::warp_size + simt::lane_id();
      std::uint32_t const before = warp_sum_before(values[k]);
      if (t < m.tiles) counts[t] = sum + before;
      sum += simt::shuffle(simt::full_warp, before + values[k], simt::warp_size - 1);
    }
  }
  if (simt::lane_id() == 0) m.totals[digit] = sum;
}

/// Finds the buckets, and the pieces of large ones. One block of `digits` threads; shared memory of
/// its scan.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(digits, 1) plan_pieces(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  using scan = simt::block_scan_by_warps<digits>;
  auto* const storage = reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  std::uint32_t const bucket = simt::thread_rank();
  std::uint32_t const count = bucket < m.buckets && !m.order.ascends() ? m.totals[bucket] : 0;
  std::uint32_t const own =
      count > piece_sections ? (count + piece_sections - 1) / piece_sections : 0;
  std::uint32_t sections, pieces;
  std::uint32_t const begin = scan::exclusive_sum(storage[0], count, sections);
  std::uint32_t const first = scan::exclusive_sum(storage[1], own, pieces);
  if (bucket < m.buckets) {
    m.begins[bucket] = begin;
    m.first_pieces[bucket] = first;
    m.counted[bucket] = 0;
  }
  if (bucket == 0) {
    m.begins[m.buckets] = sections;
    m.first_pieces[m.buckets] = pieces;
  }
  std::uint32_t const end = begin + count;
  for (std::uint32_t p = 0; p < own; ++p) {
    std::uint32_t const at = begin + p * piece_sections;
    m.pieces[first + p] = {bucket, at, end - at < piece_sections ? end : at + piece_sections, begin,
                           end};
  }
}

/// Shared memory of a block that moves a tile.
struct move_layout {
  arena_carver carver{};
  arena_piece<moved_id> staged = carver.take<moved_id>(tile_sections);
  arena_piece<std::uint32_t> to = carver.take<std::uint32_t>(digits);
  digit_sort<partition_threads, tile_each>::pieces sort{carver};
};
/// Moves the sections of a tile to their buckets. Grid: a block for each tile.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    move_sections(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  if (m.order.ascends()) return;
  std::byte* const storage = simt::dynamic_shared();
  digit_sort<partition_threads, tile_each> sort{move_layout{}.sort, storage};
  auto const staged = move_layout{}.staged.in(storage);
  auto const to = move_layout{}.to.in(storage);
  std::uint32_t ids[tile_each], of[tile_each];
  read_ids(
      a, ids, [&](unsigned k) { return sort.item(k); },
      [&](std::uint64_t id, std::uint64_t) { return id < a.size; });
  WARDEN_UNROLL
  for (unsigned k = 0; k < tile_each; ++k)
    of[k] = ids[k] == no_digit ? no_digit : ids[k] >> m.low_bits;
  // Loaded early, by the threads that get the counts.
  constexpr unsigned each = digits / partition_threads;
  unsigned const first = simt::thread_rank() * each;
  for (unsigned d = first; d < first + each && d < m.buckets; ++d)
    to[d] = m.begins[d] + m.counts[std::size_t{d} * m.tiles + simt::block_rank()];
  sort.rank(of, [&](std::uint32_t digit, std::uint32_t) {
    if (digit < m.buckets) to[digit] -= sort.start(digit);  // mutation: tree-start
  });
  std::uint32_t places[tile_each];
  WARDEN_UNROLL
  for (unsigned k = 0; k < tile_each; ++k) {
    places[k] = of[k] == no_digit ? no_digit : sort.place(k, of[k]);
    if (places[k] != no_digit) staged[places[k]].id = ids[k];
  }
  // Several at a time: more words take registers that there are not.
  constexpr unsigned together = 8;
  WARDEN_UNROLL
  for (unsigned first_item = 0; first_item < tile_each; first_item += together) {
    std::uint32_t words[together];
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      std::uint32_t const number = simt::block_rank() * tile_sections + sort.item(first_item + k);
      if (places[first_item + k] != no_digit) words[k] = moved_word(a.bulk, a.first, number);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (places[first_item + k] != no_digit) staged[places[first_item + k]].word = words[k];
    }
  }
  simt::sync_block();
  for (std::uint32_t j = simt::thread_rank(); j < sort.total(); j += partition_threads) {
    moved_id const one = staged[j];
    m.sections[to[one.id >> m.low_bits] + j] = one;
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
