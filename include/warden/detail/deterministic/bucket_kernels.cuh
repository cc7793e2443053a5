// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels that run the buckets of a partition.
///
/// A block sorts a bucket of one piece in shared memory, and runs it from there. Before, two
/// kernels move the sections of larger buckets to their places in global memory. They leave at once
/// if there is no such bucket.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deterministic/digit_sort.cuh>
#include <warden/detail/deterministic/record_partition.cuh>
#include <warden/detail/deterministic/unit_runner.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sorts a piece by the low digits of its records, in shared memory. A warp then finds units among
/// `Positions` positions at a time.
template <unsigned Positions>
class piece_sort {
  using sort = digit_sort<partition_threads, piece_each>;
  static constexpr unsigned warps = partition_threads / simt::warp_size;

 public:
  /// Memory in which a warp finds units.
  using list = unit_storage<Positions>;

 private:
  struct layout {
    arena_carver carver{};
    arena_piece<std::uint32_t> words = carver.take<std::uint32_t>(piece_sections);
    arena_piece<std::uint16_t> keys = carver.take<std::uint16_t>(piece_sections);
    typename sort::pieces sorting{carver, warps * sizeof(list)};
    // In the place of the counts, which are free once the piece is sorted.
    arena_piece<list> lists{sorting.counts.offset, warps};
  };

 public:
  /// Size of the shared memory. Units: bytes.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// Takes the block's shared memory.
  WARDEN_DEVICE piece_sort(partition_memory const& m, bucket_piece const& piece)
      : m_{m},
        piece_{piece},
        sort_{layout{}.sorting, simt::dynamic_shared()},
        words_{layout{}.words.in(simt::dynamic_shared())},
        keys_{layout{}.keys.in(simt::dynamic_shared())} {}

  /// Ranks the sections. Collective.
  WARDEN_DEVICE void rank() {
    moved_id own[piece_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      std::uint32_t const at = piece_.begin + sort::item(k);
      own[k] = at < piece_.end ? m_.sections[at] : moved_id{no_digit, 0};
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      of_[k] = own[k].id == no_digit ? no_digit : m_.low_digit(own[k].id);
      word_[k] = own[k].word;
    }
    sort_.rank(of_, [](std::uint32_t, std::uint32_t) {});
  }
  /// Sorts the ranked sections. Collective.
  WARDEN_DEVICE void sort_ranked() {
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      if (of_[k] == no_digit) continue;
      std::uint32_t const place = sort_.place(k, of_[k]);
      keys_[place] = static_cast<std::uint16_t>(of_[k]);
      words_[place] = word_[k];
    }
    simt::sync_block();
  }
  /// Returns the sorted sections, all of their bucket.
  [[nodiscard]] WARDEN_DEVICE bucket_sections<key_arrays<std::uint16_t>> sorted() const {
    return {{{keys_.data(), words_.data()},
             piece_.end - piece_.begin,
             piece_.bucket << m_.low_bits,
             piece_.begin},
            sort_.starts()};
  }
  /// Returns the memory in which the calling warp finds units.
  WARDEN_DEVICE static list& own_list() {
    return layout{}.lists.in(simt::dynamic_shared())[simt::warp_rank()];
  }

 private:
  partition_memory const& m_;
  bucket_piece const piece_;
  sort sort_;
  simt::shared_span<std::uint32_t> words_;
  simt::shared_span<std::uint16_t> keys_;
  std::uint32_t of_[piece_each], word_[piece_each];
};

/// Shared memory of a block that counts the low digits of a piece.
struct count_layout {
  using scan = simt::block_scan_by_warps<partition_threads>;
  arena_carver carver{};
  arena_piece<std::uint32_t> counts = carver.take<std::uint32_t>(digits);
  arena_piece<scan::storage> scanning = carver.take<scan::storage>(1);
};
/// Finds the places of the low digits in a large bucket. Collective over a block of
/// count_low_digits.
WARDEN_DEVICE void place_low_digits(partition_memory const& m, std::uint32_t bucket) {
  using scan = count_layout::scan;
  constexpr unsigned each = digits / partition_threads;
  struct alignas(each * sizeof(std::uint32_t)) counts {
    std::uint32_t of[each];
  };
  std::uint32_t const first = simt::thread_rank() * each, end = m.first_pieces[bucket + 1];
  counts sums{};
  // The loop takes as long as its loads, one group after another. They are unconditional, because
  // there are few predicates.
  constexpr unsigned together = 8;
  for (std::uint32_t p = m.first_pieces[bucket]; p < end; p += together) {
    auto const at = [&](std::uint32_t piece) {
      return reinterpret_cast<counts*>(m.piece_digits + std::size_t{piece} * digits + first);
    };
    counts values[together];
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      counts const& from = *at(p + k < end ? p + k : end - 1);
      for (std::uint32_t const& one : from.of) simt::demand_visible(&one);
      values[k] = from;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (p + k >= end) break;
      *at(p + k) = sums;  // mutation: tree-places
      WARDEN_UNROLL
      for (unsigned d = 0; d < each; ++d) sums.of[d] += values[k].of[d];
    }
  }
  std::uint32_t sum = 0, all;
  WARDEN_UNROLL
  for (unsigned d = 0; d < each; ++d) sum += sums.of[d];
  std::uint32_t start =
      scan::exclusive_sum(count_layout{}.scanning.in(simt::dynamic_shared())[0], sum, all);
  WARDEN_UNROLL
  for (unsigned d = 0; d < each; ++d) {
    m.low_begins[std::size_t{bucket} * digits + first + d] = start;
    start += sums.of[d];
  }
  simt::sync_block();
}
/// Counts the low digits of the pieces of large buckets. The block that counts the last piece of a
/// bucket finds the places of the bucket's low digits. Any grid.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 3) count_low_digits(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  m.order.settle();
  auto const counts = count_layout{}.counts.in(simt::dynamic_shared());
  for (std::uint32_t number = simt::block_rank(); number < m.piece_count();
       number += simt::block_count()) {
    bucket_piece const piece = m.pieces[number];
    for (unsigned d = simt::thread_rank(); d < digits; d += partition_threads) counts[d] = 0;
    std::uint32_t own[piece_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      std::uint32_t const at = piece.begin + k * partition_threads + simt::thread_rank();
      own[k] = at < piece.end ? m.low_digit(m.sections[at].id) : no_digit;
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      if (own[k] != no_digit) simt::shared_fetch_add(counts[own[k]], 1u);
    }
    simt::sync_block();
    for (unsigned d = simt::thread_rank(); d < digits; d += partition_threads) {
      std::uint32_t& to = m.piece_digits[std::size_t{number} * digits + d];
      to = counts[d];
      simt::note_written(&to);
    }
    simt::sync_block();
    bool is_last = false;
    if (simt::thread_rank() == 0) {
      std::uint32_t const pieces = m.first_pieces[piece.bucket + 1] - m.first_pieces[piece.bucket];
      // Release: each block's first thread fences after its block has stored the counts, and before
      // it counts the piece. Acquire: the thread that counts the last piece fences before its block
      // reads the counts.
      simt::fence_device();  // mutation: counted-release
      is_last = simt::fetch_add(m.counted + piece.bucket, 1u) + 1 == pieces;
      simt::fence_device();  // mutation: counted-acquire
    }
    if (simt::sync_block_or(is_last)) place_low_digits(m, piece.bucket);
  }
}

/// Shared memory of a block that sorts a piece of a large bucket.
struct piece_layout {
  using ranks = stable_ranks<partition_threads, digits>;
  arena_carver carver{};
  arena_piece<std::uint16_t> counts =
      carver.take<std::uint16_t>(ranks::size, alignof(std::uint64_t));
  arena_piece<std::uint32_t> to = carver.take<std::uint32_t>(digits);
};
/// Moves the sections of large buckets to their places. Any grid.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 3) move_pieces(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  std::byte* const storage = simt::dynamic_shared();
  piece_layout::ranks const ranks{piece_layout{}.counts.in(storage)};
  auto const to = piece_layout{}.to.in(storage);
  for (std::uint32_t number = simt::block_rank(); number < m.piece_count();
       number += simt::block_count()) {
    bucket_piece const piece = m.pieces[number];
    ranks.start(digits);
    moved_id own[piece_each];
    std::uint32_t rank[piece_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      std::uint32_t const at = piece.begin + digit_sort<partition_threads, piece_each>::item(k);
      own[k] = at < piece.end ? m.sections[at] : moved_id{no_digit, 0};
      if (own[k].id != no_digit) own[k].id = m.low_digit(own[k].id);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      bool const has = own[k].id != no_digit;
      rank[k] = ranks.rank(has ? own[k].id : 0, has);
    }
    simt::sync_block();
    for (unsigned d = simt::thread_rank(); d < digits; d += partition_threads) {
      ranks.add_up(d);
      to[d] = piece.bucket_begin + m.low_begins[std::size_t{piece.bucket} * digits + d] +
              m.piece_digits[std::size_t{number} * digits + d];
    }
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      if (own[k].id == no_digit) continue;
      std::uint32_t const place = to[own[k].id] + ranks.before(own[k].id) + rank[k];
      m.sorted[place] = own[k];
    }
    simt::sync_block();
  }
}

/// Positions of a large bucket among which a warp finds units at a time: most units there are of
/// hot records, so that each group of the warp has a strip, or a band.
template <unsigned Lanes>
inline constexpr unsigned large_positions = Lanes > 8    ? band_sections* simt::warp_size / Lanes
                                            : Lanes == 1 ? strip_sections* simt::warp_size
                                                         : 128;
/// Memory in which a warp finds them.
template <unsigned Lanes>
using large_list = unit_storage<large_positions<Lanes>>;
/// Sort of a bucket of one piece. Threads without a group get all positions of their warp at once.
template <unsigned Lanes>
using bucket_sort =
    piece_sort<Lanes == 1 ? piece_sections / (partition_threads / simt::warp_size) : 128>;
/// Runs the buckets. The last blocks run those of one piece, a block for each; the blocks before
/// run all others, at the same time, because their trees are long chains of latencies. Shared
/// memory: that of a bucket_sort, and a large_list for each warp in its place.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    run_all_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr unsigned warps = partition_threads / simt::warp_size;
  std::uint32_t const others = simt::block_count() - m.buckets;
  if (simt::block_rank() < others) {
    using list = large_list<Arguments::lanes>;
    constexpr unsigned parts = (piece_sections - 1) / list::positions + 1;
    list& own_list = reinterpret_cast<list*>(simt::dynamic_shared())[simt::warp_rank()];
    std::uint32_t const all = m.piece_count() * parts;
    for (std::uint32_t part = simt::block_rank() * warps + simt::warp_rank(); part < all;
         part += others * warps) {
      bucket_piece const piece = m.pieces[part / parts];
      std::uint32_t const begin = piece.bucket_begin,
                          first = piece.begin + part % parts * list::positions;
      if (first >= piece.end) continue;
      std::uint32_t const end =
          piece.end - first < list::positions ? piece.end : first + list::positions;
      bucket_sections<key_pairs> const sorted{
          {{m.sorted + begin}, piece.bucket_end - begin, piece.bucket << m.low_bits, begin},
          m.low_begins + std::size_t{piece.bucket} * digits};
      unit_runner<Arguments, bucket_sections<key_pairs>>{a, sorted}.run(first - begin, end - begin,
                                                                        own_list);
    }
    return;
  }
  bucket_piece const bucket = m.small_bucket(simt::block_rank() - others);
  if (bucket.begin == bucket.end) return;
  using sort_type = bucket_sort<Arguments::lanes>;
  sort_type sort{m, bucket};
  sort.rank();
  sort.sort_ranked();
  unit_runner<Arguments, bucket_sections<key_arrays<std::uint16_t>>> const runner{a, sort.sorted()};
  // All warps get as many positions.
  std::uint32_t const n = bucket.size(), turns = (n - 1) / (warps * sort_type::list::positions) + 1,
                      positions = (n - 1) / (warps * turns) + 1;
  for (std::uint32_t first = simt::warp_rank() * positions; first < n; first += warps * positions)
    runner.run(first, first + positions, sort_type::own_list());
}

}  // namespace detail
WARDEN_NAMESPACE_END
