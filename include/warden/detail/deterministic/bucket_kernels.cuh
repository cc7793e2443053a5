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

/// Runs buckets of one piece, a block for each. The blocks after these count the low digits of all
/// pieces of large buckets.
template <class Arguments>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2)
    run_small_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  for (std::uint32_t number = simt::block_rank() - m.buckets;
       simt::block_rank() >= m.buckets && number < m.piece_count();
       number += simt::block_count() - m.buckets) {
    piece_sort sort{m, m.pieces[number]};
    sort.rank([&](std::uint32_t digit, std::uint32_t count) {
      m.piece_counts[std::size_t{number} * digits + digit] = count;
    });
    simt::sync_block();
  }
  if (simt::block_rank() >= m.buckets) return;
  bucket_piece const bucket = m.small_bucket(simt::block_rank());
  if (bucket.begin == bucket.end) return;
  piece_sort sort{m, bucket};
  sort.rank([](std::uint32_t, std::uint32_t) {});
  sort.sort_ranked();
  chunk_runner<Arguments, std::uint16_t> const runner{a, sort.sorted()};
  for (std::uint32_t first = simt::warp_rank() * chunk_positions; first < bucket.end - bucket.begin;
       first += partition_threads / simt::warp_size * chunk_positions)
    runner.run(first, piece_sort::list());
}

/// Finds the places of the low digits in large buckets. Blocks of `digits` threads; shared memory
/// of their scan.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(digits, 1) place_low_digits(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  using scan = simt::block_scan_by_warps<digits>;
  auto& storage = *reinterpret_cast<typename scan::storage*>(simt::dynamic_shared());
  if (m.piece_count() == 0) return;
  std::uint32_t const digit = simt::thread_rank();
  for (std::uint32_t bucket = simt::block_rank(); bucket < m.buckets;
       bucket += simt::block_count()) {
    std::uint32_t const first = m.first_pieces[bucket], end = m.first_pieces[bucket + 1];
    if (first == end) continue;
    std::uint32_t sum = 0, all;
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
    m.low_begins[std::size_t{bucket} * digits + digit] = scan::exclusive_sum(storage, sum, all);
    simt::sync_block();
  }
}

/// Sorts the large buckets, piece by piece. Any grid.
template <class Memory>
WARDEN_KERNEL void WARDEN_BOUNDS(partition_threads, 2) sort_large_buckets(Memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  for (std::uint32_t number = simt::block_rank(); number < m.piece_count();
       number += simt::block_count()) {
    bucket_piece const piece = m.pieces[number];
    piece_sort sort{m, piece};
    sort.rank([](std::uint32_t, std::uint32_t) {});
    sort.sort_ranked();
    for (std::uint32_t j = simt::thread_rank(); j < piece.end - piece.begin;
         j += partition_threads) {
      std::uint32_t const digit = sort.key(j);
      std::uint32_t const to =
          piece.bucket_begin + m.low_begins[std::size_t{piece.bucket} * digits + digit] +
          m.piece_counts[std::size_t{number} * digits + digit] + j - sort.start(digit);
      m.keys[to] = digit;
      m.numbers[to] = sort.number(j);
    }
    simt::sync_block();
  }
}

/// Threads of a block that runs large buckets. Its warps run a part of a piece at a time.
inline constexpr unsigned large_threads = 256;
/// Runs the large buckets. Any grid; shared memory: a list for each warp.
template <class Arguments>
WARDEN_KERNEL void run_large_buckets(Arguments const a, partition_memory const m) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr unsigned positions = large_threads / simt::warp_size * chunk_positions;
  constexpr unsigned parts = piece_sections / positions;
  static_assert(piece_sections % positions == 0);
  for (std::uint32_t part = simt::block_rank(); part < m.piece_count() * parts;
       part += simt::block_count()) {
    bucket_piece const piece = m.pieces[part / parts];
    std::uint32_t const begin = piece.bucket_begin;
    std::uint32_t const first =
        piece.begin + part % parts * positions + simt::warp_rank() * chunk_positions;
    if (first >= piece.end) continue;
    sorted_sections<std::uint32_t> const sorted{m.keys + begin, m.numbers + begin,
                                                piece.bucket_end - begin,
                                                piece.bucket << m.low_bits, begin};
    chunk_runner<Arguments, std::uint32_t>{a, sorted}.run(
        first - begin, reinterpret_cast<chunk_storage*>(simt::dynamic_shared())[simt::warp_rank()]);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
