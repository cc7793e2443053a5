// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels that run the buckets of a partition.
///
/// A block sorts a bucket of one piece in shared memory, and runs it from there. A larger bucket is
/// sorted in global memory by three kernels, which leave at once if there is none.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/deterministic/chunk_runner.cuh>
#include <warden/detail/deterministic/digit_sort.cuh>
#include <warden/detail/deterministic/record_partition.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sorts a piece by the low digits of its records, in shared memory.
class piece_sort {
  using sort = digit_sort<partition_threads, piece_each>;
  static constexpr unsigned warps = partition_threads / simt::warp_size;
  struct layout {
    arena_carver carver{};
    arena_piece<std::uint32_t> numbers = carver.take<std::uint32_t>(piece_sections);
    arena_piece<std::uint16_t> keys = carver.take<std::uint16_t>(piece_sections);
    sort::pieces sorting{carver};
    // In the place of the counts, which are free once the piece is sorted.
    arena_piece<chunk_storage> lists{sorting.counts.offset, warps};
    static_assert(warps * sizeof(chunk_storage) <= sort::counts_bytes);
  };

 public:
  /// Size of the shared memory. Units: bytes.
  static constexpr std::size_t shared_bytes() { return layout{}.carver.bytes(); }

  /// Takes the block's shared memory.
  WARDEN_DEVICE piece_sort(partition_memory const& m, bucket_piece const& piece)
      : m_{m},
        piece_{piece},
        sort_{layout{}.sorting, simt::dynamic_shared()},
        numbers_{layout{}.numbers.in(simt::dynamic_shared())},
        keys_{layout{}.keys.in(simt::dynamic_shared())} {}

  /// Ranks the sections. Calls `counted(low digit, count)` for each digit. Collective.
  template <class Counted>
  WARDEN_DEVICE void rank(Counted const& counted) {
    numbered_id own[piece_each];
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      std::uint32_t const at = piece_.begin + sort::item(k);
      own[k] = at < piece_.end ? m_.sections[at] : numbered_id{no_digit, 0};
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      of_[k] = own[k].id == no_digit ? no_digit : own[k].id & ((1u << m_.low_bits) - 1);
      number_[k] = own[k].number;
    }
    sort_.rank(of_, counted);
  }
  /// Sorts the ranked sections. Collective.
  WARDEN_DEVICE void sort_ranked() {
    WARDEN_UNROLL
    for (unsigned k = 0; k < piece_each; ++k) {
      if (of_[k] == no_digit) continue;
      std::uint32_t const place = sort_.place(k, of_[k]);
      keys_[place] = static_cast<std::uint16_t>(of_[k]);
      numbers_[place] = number_[k];
    }
    simt::sync_block();
  }
  /// Returns the place of the first section of a low digit.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t start(std::uint32_t digit) const {
    return sort_.start(digit);
  }
  /// Returns the low digit of the section at a place.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t key(std::uint32_t place) const { return keys_[place]; }
  /// Returns the number of the section at a place.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t number(std::uint32_t place) const {
    return numbers_[place];
  }
  /// Returns the sorted sections, all of their bucket.
  [[nodiscard]] WARDEN_DEVICE sorted_sections<std::uint16_t> sorted() const {
    return {keys_.data(), numbers_.data(), piece_.end - piece_.begin, piece_.bucket << m_.low_bits,
            piece_.begin};
  }
  /// Returns the memory in which the calling warp finds chunks.
  WARDEN_DEVICE static chunk_storage& list() {
    return layout{}.lists.in(simt::dynamic_shared())[simt::warp_rank()];
  }

 private:
  partition_memory const& m_;
  bucket_piece const piece_;
  sort sort_;
  simt::shared_span<std::uint32_t> numbers_;
  simt::shared_span<std::uint16_t> keys_;
  std::uint32_t of_[piece_each], number_[piece_each];
};

/// Runs chunks that begin from `begin` to `end`, by all warps of the block.
template <class Arguments, class Key>
WARDEN_DEVICE void run_by_block(Arguments const& a, sorted_sections<Key> const& sorted,
                                std::uint32_t begin, std::uint32_t end, chunk_storage& list) {
  chunk_runner<Arguments, Key> const runner{a, sorted};
  for (std::uint32_t first = begin + simt::warp_rank() * chunk_positions; first < end;
       first += partition_threads / simt::warp_size * chunk_positions)
    runner.run(first, list);
}

/// Runs buckets of one piece, and counts the low digits of other pieces. A block for each piece.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    run_small_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  std::uint32_t const number = simt::block_rank();
  if (number >= m.first_pieces[m.buckets]) return;
  bucket_piece const piece = m.pieces[number];
  piece_sort sort{m, piece};
  if (piece.is_of_several()) {
    sort.rank([&](std::uint32_t digit, std::uint32_t count) {
      m.piece_counts[std::size_t{number} * digits + digit] = count;
    });
    return;
  }
  sort.rank([](std::uint32_t, std::uint32_t) {});
  sort.sort_ranked();
  run_by_block(a, sort.sorted(), 0, piece.end - piece.begin, piece_sort::list());
}

/// Finds the places of the low digits in buckets of several pieces. A block of `digits` threads for
/// each bucket; shared memory of its scan.
template <class Memory>
WARDEN_KERNEL void place_low_digits(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  using scan = simt::block_scan_by_warps<digits>;
  std::uint32_t const bucket = simt::block_rank(), digit = simt::thread_rank();
  std::uint32_t const first = m.first_pieces[bucket], end = m.first_pieces[bucket + 1];
  if (end - first < 2) return;
  std::uint32_t sum = 0;
  constexpr unsigned together = 8;
  for (std::uint32_t p = first; p < end; p += together) {
    std::uint32_t* const counts = m.piece_counts + std::size_t{p} * digits + digit;
    std::uint32_t values[together];
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) values[k] = p + k < end ? counts[k * digits] : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < together; ++k) {
      if (p + k < end) counts[k * digits] = sum;  // mutation: tree-places
      sum += values[k];
    }
  }
  std::uint32_t all;
  m.low_begins[std::size_t{bucket} * digits + digit] = scan::exclusive_sum(
      *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared()), sum, all);
}

/// Sorts the buckets of several pieces. A block for each piece.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2) sort_large_buckets(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  std::uint32_t const number = simt::block_rank();
  if (number >= m.first_pieces[m.buckets]) return;
  bucket_piece const piece = m.pieces[number];
  if (!piece.is_of_several()) return;
  piece_sort sort{m, piece};
  sort.rank([](std::uint32_t, std::uint32_t) {});
  sort.sort_ranked();
  for (std::uint32_t j = simt::thread_rank(); j < piece.end - piece.begin; j += partition_threads) {
    std::uint32_t const digit = sort.key(j);
    std::uint32_t const to =
        piece.bucket_begin + m.low_begins[std::size_t{piece.bucket} * digits + digit] +
        m.piece_counts[std::size_t{number} * digits + digit] + j - sort.start(digit);
    m.keys[to] = digit;
    m.numbers[to] = sort.number(j);
  }
}

/// Runs the buckets of several pieces. A block for each piece; shared memory: a list for each warp.
template <class Arguments>
WARDEN_KERNEL void run_large_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  std::uint32_t const number = simt::block_rank();
  if (number >= m.first_pieces[m.buckets]) return;
  bucket_piece const piece = m.pieces[number];
  if (!piece.is_of_several()) return;
  std::uint32_t const begin = piece.bucket_begin;
  sorted_sections<std::uint32_t> const sorted{m.keys + begin, m.numbers + begin,
                                              piece.bucket_end - begin, piece.bucket << m.low_bits,
                                              begin};
  run_by_block(a, sorted, piece.begin - begin, piece.end - begin,
               reinterpret_cast<chunk_storage*>(simt::dynamic_shared())[simt::warp_rank()]);
}

}  // namespace detail
WARDEN_NAMESPACE_END
