// SPDX-License-Identifier: Apache-2.0
/// @file
/// Chooses the tables of a bulk run by the number of records and the device.
#pragma once

#include <warden/detail/bulk/block_table.cuh>
#include <warden/detail/bulk/bulk_shape.cuh>
#include <warden/detail/bulk/thread_tables.cuh>
#include <warden/detail/bulk/warp_tables.cuh>
#include <warden/detail/bulk/word_table.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Tables of a bulk run.
enum class bulk_tables : unsigned char {
  of_threads,  ///< thread_tables
  of_warps,    ///< warp_tables
  of_blocks,   ///< block_table
  of_words,    ///< word_table
};
/// Tables that were chosen, and their sizes.
struct bulk_plan {
  bulk_tables tables;
  bulk_shape shape;
  std::size_t shared_bytes;            ///< shared memory of a block. Units: bytes
  unsigned blocks_per_multiprocessor;  ///< resident blocks of a multiprocessor
};

/// Returns the number of blocks of `threads` threads and `bytes` bytes of shared memory that are
/// resident on a multiprocessor.
inline unsigned resident_by_memory(std::size_t bytes, unsigned threads,
                                   runtime::device_facts const& facts) {
  if (bytes > facts.shared_bytes_per_block) return 0;
  return static_cast<unsigned>(std::min<std::size_t>(
      facts.shared_bytes_per_multiprocessor / (bytes + facts.reserved_shared_bytes_per_block),
      static_cast<unsigned>(facts.threads_per_multiprocessor) / threads));
}

/// Returns the tables of warps or blocks for `records` records on such a device, in blocks of up to
/// `threads` threads for each of 2, or nothing if a block has no room for a table of all records.
/// A block has `more_bytes` bytes of shared memory in addition to the tables.
template <class Partial>
std::optional<bulk_plan> plan_shared_tables(std::uint64_t records, unsigned threads,
                                            runtime::device_facts const& facts,
                                            std::size_t more_bytes = 0) {
  if (records == 0 || records > facts.shared_bytes_per_block) return {};
  auto const resident = [&](std::size_t bytes, unsigned of_threads) {
    return resident_by_memory(bytes + more_bytes, of_threads, facts);
  };
  bulk_shape shape{static_cast<std::uint32_t>(records), threads, 0};
  // Warps hide the latency of their tables: twice the threads must be resident.
  std::size_t const of_warps = warp_tables<Partial>::shared_bytes(shape);
  if (unsigned const blocks = resident(of_warps, threads); blocks >= 2)
    return bulk_plan{bulk_tables::of_warps, shape, of_warps, std::min(blocks, 2u)};
  // The more places a warp has of its own, the less do warps wait at hot records. With 2 blocks a
  // table has half of the contenders.
  for (unsigned places = 64; places >= 16; places /= 2) {
    for (unsigned blocks = 2; blocks != 0; --blocks) {
      shape.places = places;
      shape.threads = threads * 2 / blocks;
      std::size_t const bytes = block_table<Partial>::shared_bytes(shape);
      if (resident(bytes, shape.threads) >= blocks)
        return bulk_plan{bulk_tables::of_blocks, shape, bytes, blocks};
    }
  }
  return {};
}

/// Returns the word_table for `records` records on such a device, or nothing if a block has no room
/// for a table of all records. At most `most_blocks` blocks are resident, 2 blocks of `threads`
/// threads or 1 of twice as many.
template <class Partial>
std::optional<bulk_plan> plan_word_table(std::uint64_t records, unsigned threads,
                                         runtime::device_facts const& facts, unsigned most_blocks) {
  if (records == 0 || records > facts.shared_bytes_per_block) return {};
  bulk_shape shape{static_cast<std::uint32_t>(records), threads, 0};
  for (unsigned blocks = most_blocks; blocks != 0; --blocks) {
    shape.threads = threads * 2 / blocks;
    for (shape.places = simt::warp_size; shape.places != 0; shape.places /= 2) {
      std::size_t const bytes = word_table<Partial>::shared_bytes(shape);
      if (resident_by_memory(bytes, shape.threads, facts) >= blocks)
        return bulk_plan{bulk_tables::of_words, shape, bytes, blocks};
    }
  }
  return {};
}

/// Returns the tables for `records` records on such a device, in blocks of up to `threads` threads
/// for each of 2, or nothing if a block has no room for a table of all records.
template <class Partial>
std::optional<bulk_plan> plan_bulk(std::uint64_t records, unsigned threads,
                                   runtime::device_facts const& facts) {
  // One block leaves half of the partials that two leave.
  if constexpr (sums_words<Partial>) return plan_word_table<Partial>(records, threads, facts, 1);
  // Fewer threads than a quarter do not load fast enough.
  if (records != 0 && records <= thread_tables<Partial>::most_records) {
    for (unsigned few = std::min(threads / 2, thread_tables<Partial>::most_threads);
         few >= threads / 4 && few >= simt::warp_size; few -= simt::warp_size) {
      bulk_shape const shape{static_cast<std::uint32_t>(records), few, 0};
      std::size_t const bytes = thread_tables<Partial>::shared_bytes(shape);
      if (resident_by_memory(bytes, few, facts) != 0)
        return bulk_plan{bulk_tables::of_threads, shape, bytes, 1};
    }
  }
  return plan_shared_tables<Partial>(records, threads, facts);
}

}  // namespace detail
WARDEN_NAMESPACE_END
