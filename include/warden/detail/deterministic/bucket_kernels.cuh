// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels that run the buckets of a partition.
///
/// A block sorts a bucket of one piece in shared memory, and runs it from there. Before, three
/// kernels sort the pieces of larger buckets and join them in global memory. They leave at once if
/// there is no such bucket.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deterministic/chunk_runner.cuh>
#include <warden/detail/deterministic/digit_sort.cuh>
#include <warden/detail/deterministic/record_partition.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sorts a piece by the low digits of its records, in shared memory.
class piece_sort {
  using sort = digit_sort<partition_threads, piece_each>;
  static constexpr unsigned warps = partition_threads / simt::warp_size;

 public:
  /// Memory in which a warp finds chunks.
  using list = chunk_storage<128>;

 private:
  struct layout {
    arena_carver carver{};
    arena_piece<std::uint32_t> words = carver.take<std::uint32_t>(piece_sections);
    arena_piece<std::uint16_t> keys = carver.take<std::uint16_t>(piece_sections);
    sort::pieces sorting{carver};
    // In the place of the counts, which are free once the piece is sorted.
    arena_piece<list> lists{sorting.counts.offset, warps};
    static_assert(warps * sizeof(list) <= sort::counts_bytes);
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
      of_[k] = own[k].id == no_digit ? no_digit : own[k].id & ((1u << m_.low_bits) - 1);
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
  /// Returns the place of the first section of a low digit.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t start(std::uint32_t digit) const {
    return sort_.start(digit);
  }
  /// Returns the low digit of the section at a place.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t place) const { return keys_[place]; }
  /// Returns the word of the section at a place.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t word(std::uint32_t place) const {
    return words_[place];
  }
  /// Returns the sorted sections, all of their bucket.
  [[nodiscard]] WARDEN_DEVICE bucket_sections<std::uint16_t> sorted() const {
    return {{keys_.data(), words_.data(), piece_.end - piece_.begin, piece_.bucket << m_.low_bits,
             piece_.begin},
            sort_.starts()};
  }
  /// Returns the memory in which the calling warp finds chunks.
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

/// Sorts the pieces of large buckets, each piece by itself. Any grid.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 3) sort_pieces(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  for (std::uint32_t number = simt::block_rank(); number < m.piece_count();
       number += simt::block_count()) {
    bucket_piece const piece = m.pieces[number];
    piece_sort sort{m, piece};
    sort.rank();
    sort.sort_ranked();
    for (std::uint32_t d = simt::thread_rank(); d < digits; d += partition_threads) {
      std::uint32_t const start = sort.start(d);
      std::uint32_t const end = d + 1 < digits ? sort.start(d + 1) : piece.size();
      static_assert(piece_sections <= 0xffff);
      m.piece_digits[std::size_t{number} * digits + d] = (end - start) << 16 | start;
    }
    // All threads have read the piece.
    for (std::uint32_t j = simt::thread_rank(); j < piece.size(); j += partition_threads)
      m.sections[piece.begin + j] = {sort.key(j), sort.word(j)};
    simt::sync_block();
  }
}

/// Finds the places of the low digits in large buckets. Blocks of `digits` threads; shared memory
/// of their scan.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(digits, 1) place_low_digits(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  using scan = simt::block_scan_by_warps<digits>;
  auto& storage = *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  std::uint32_t const digit = simt::thread_rank(), pieces = m.piece_count();
  for (std::uint32_t number = simt::block_rank(); number < pieces; number += simt::block_count()) {
    bucket_piece const first = m.pieces[number];
    if (first.begin != first.bucket_begin) continue;
    std::uint32_t const end = m.first_pieces[first.bucket + 1];
    std::uint32_t sum = 0, all;
    // The loop takes as long as its loads, one group after another.
    constexpr unsigned together = 32;
    for (std::uint32_t p = number; p < end; p += together) {
      std::uint32_t* const of = m.piece_digits + std::size_t{p} * digits + digit;
      std::uint32_t values[together];
      WARDEN_UNROLL
      for (unsigned k = 0; k < together; ++k) values[k] = p + k < end ? of[k * digits] : 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < together; ++k) {
        if (p + k < end) of[k * digits] = sum - (values[k] & 0xffff);  // mutation: tree-places
        sum += values[k] >> 16;
      }
    }
    m.low_begins[std::size_t{first.bucket} * digits + digit] =
        scan::exclusive_sum(storage, sum, all);
    simt::sync_block();
  }
}

/// Parts of a piece that a block joins at a time, and the sections of each thread.
inline constexpr unsigned join_each = 2, join_parts = piece_each / join_each;
static_assert(piece_each % join_each == 0);
/// Joins the sorted pieces of large buckets. Any grid of blocks of `partition_threads` threads.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 4) join_pieces(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  for (std::uint32_t part = simt::block_rank(); part < m.piece_count() * join_parts;
       part += simt::block_count()) {
    std::uint32_t const number = part / join_parts;
    bucket_piece const piece = m.pieces[number];
    std::uint32_t const first =
        part % join_parts * join_each * partition_threads + simt::thread_rank();
    moved_id own[join_each];
    std::uint32_t to[join_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < join_each; ++k) {
      std::uint32_t const j = first + k * partition_threads;
      if (j < piece.size()) own[k] = m.sections[piece.begin + j];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < join_each; ++k) {
      std::uint32_t const j = first + k * partition_threads;
      if (j < piece.size())
        to[k] = piece.bucket_begin + j +
                m.low_begins[std::size_t{piece.bucket} * digits + own[k].id] +
                m.piece_digits[std::size_t{number} * digits + own[k].id];
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < join_each; ++k) {
      if (first + k * partition_threads >= piece.size()) continue;
      m.keys[to[k]] = own[k].id;
      m.words[to[k]] = own[k].word;
    }
  }
}

/// Positions of a large bucket among which a warp finds chunks at a time. Most chunks there are of
/// hot records: one for each group of the warp, unless the warps of a block then had more than a
/// piece.
template <unsigned Lanes>
inline constexpr unsigned large_positions = std::min(chunk_sections* simt::warp_size / Lanes,
                                                     piece_sections /
                                                         (partition_threads / simt::warp_size));
/// Memory in which a warp finds them.
template <unsigned Lanes>
using large_list = chunk_storage<large_positions<Lanes>>;
/// Runs the buckets. The last blocks run those of one piece, a block for each; the blocks before
/// run all others, at the same time, because their trees are long chains of latencies. Shared
/// memory: that of a piece_sort, and a large_list for each warp in its place.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    run_all_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr unsigned warps = partition_threads / simt::warp_size;
  std::uint32_t const others = simt::block_count() - m.buckets;
  if (simt::block_rank() < others) {
    using list = large_list<Arguments::lanes>;
    constexpr unsigned parts = (piece_sections - 1) / (warps * list::positions) + 1;
    list& own_list = reinterpret_cast<list*>(simt::dynamic_shared())[simt::warp_rank()];
    for (std::uint32_t part = simt::block_rank(); part < m.piece_count() * parts; part += others) {
      bucket_piece const piece = m.pieces[part / parts];
      std::uint32_t const begin = piece.bucket_begin;
      std::uint32_t const first =
          piece.begin + (part % parts * warps + simt::warp_rank()) * list::positions;
      if (first >= piece.end) continue;
      std::uint32_t const end =
          piece.end - first < list::positions ? piece.end : first + list::positions;
      bucket_sections<std::uint32_t> const sorted{
          {m.keys + begin, m.words + begin, piece.bucket_end - begin, piece.bucket << m.low_bits,
           begin},
          m.low_begins + std::size_t{piece.bucket} * digits};
      chunk_runner<Arguments, bucket_sections<std::uint32_t>>{a, sorted}.run(first - begin,
                                                                             end - begin, own_list);
    }
    return;
  }
  bucket_piece const bucket = m.small_bucket(simt::block_rank() - others);
  if (bucket.begin == bucket.end) return;
  piece_sort sort{m, bucket};
  sort.rank();
  sort.sort_ranked();
  chunk_runner<Arguments, bucket_sections<std::uint16_t>> const runner{a, sort.sorted()};
  // All warps get as many positions.
  std::uint32_t const n = bucket.size(),
                      turns = (n - 1) / (warps * piece_sort::list::positions) + 1,
                      positions = (n - 1) / (warps * turns) + 1;
  for (std::uint32_t first = simt::warp_rank() * positions; first < n; first += warps * positions)
    runner.run(first, first + positions, piece_sort::own_list());
}

}  // namespace detail
WARDEN_NAMESPACE_END
