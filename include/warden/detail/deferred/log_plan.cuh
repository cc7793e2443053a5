// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of the parts of a log.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/error.hpp>
#include <warden/tuning_table.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Plans a log of `Ref`, a run_ref.
template <class Ref>
class log_plan {
  using message_type = typename Ref::message_type;

 public:
  /// Throws limit_error for a log that cannot be made: of at most `sections` sections, which are
  /// `replayed` or run partition by partition.
  static void check(std::size_t sections, std::uint64_t records, bool replayed,
                    std::source_location where) {
    if (sections == 0 || sections > most_sections) {
      throw_limit_error("deferred: a log of % sections; the limits are 1 and %",
                        {sections, most_sections}, where);
    }
    // The largest number is reserved: it marks unwritten messages.
    std::uint64_t most =
        std::min<std::uint64_t>(message_type::limit - (replayed ? 1 : 0), 0xfffffffe);
    // In a tile pair the records of both tiles have numbers, and one bit says which of two records
    // came first.
    if (Ref::has_pairs) most = message_type::limit / 2;
    if (records > most) {
      throw_limit_error("deferred: % records; the limit with these sections is %", {records, most},
                        where);
    }
  }

  /// Throws limit_error if `bytes`, the least shared memory of a block that runs the log, exceed
  /// `most`, the largest of the device.
  static void check_block(std::size_t bytes, std::size_t most, std::source_location where) {
    if (bytes <= most) return;
    throw_limit_error(
        "deferred: a block of % threads that runs a log needs % bytes of shared memory; the device "
        "has %: make the policy's block_threads smaller",
        {Ref::policy::block_threads, bytes, most}, where);
  }

  /// Returns a map to `count` partitions of records of `record_bytes` bytes. A chunk is as long as
  /// a line of memory, but a partition has at least `chunks` chunks, or chunks of one record:
  /// records with neighbouring numbers are often hot together, and one block would run them.
  static partition_map partitions(std::uint64_t records, std::uint32_t count,
                                  std::size_t record_bytes = sizeof(typename Ref::record),
                                  std::uint32_t chunks = 32) {
    std::uint64_t const line = std::max<std::uint64_t>(1, 128 / record_bytes),
                        most = records / count / chunks;
    return {count,
            static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(most, 1, line)))};
  }

  /// Returns a log without its addresses.
  static section_log<message_type> make(std::size_t sections, partition_map partitions,
                                        std::size_t batches, tuning_table const& tuning) {
    section_log<message_type> log;
    log.partitions = partitions;
    log.size = static_cast<std::uint32_t>(sections);
    // One word takes about 10^9 atomics a second, and threads that send one by one use all of them.
    // But each shard cuts the batch that fills it, and more shards cost the last senders a longer
    // search for a place.
    std::uint32_t const shards = static_cast<std::uint32_t>(std::bit_floor(
        std::clamp<std::size_t>(sections / tuning.sections_per_shard, 1, tuning.most_shards)));
    log.last_shard = shards - 1;
    log.shard_size = (log.size + shards - 1) / shards;
    // A row of offsets takes at most 1/24 of its batch, unless such a batch would exceed what a
    // block of 256 threads gathers.
    std::uint32_t const row_bytes = 2 * (partitions.partitions() + 1);
    log.least_batch = std::clamp<std::uint32_t>(
        static_cast<std::uint32_t>(24 * row_bytes / sizeof(message_type)), 64,
        static_cast<std::uint32_t>((16 << 10) / sizeof(message_type)));
    if constexpr (Ref::in_order) {
      // Each batch, however small, keeps its place in the order. A log of n sections has at most n
      // batches, and one more for the end of each shard.
      std::size_t const wanted = batches != 0 ? batches : sections / 256 + 4096;
      log.least_batch = 1;
      log.rows = static_cast<std::uint32_t>(std::min(wanted, sections) + shards);
      return log;
    }
    // Batches and tiles share the places. Each shard has one short batch, cut at the end of the
    // shard, and one short tile, its last; two short tiles after a run has failed.
    log.rows = log.size / std::min(log.least_batch, tile) + 3 * shards;
    if constexpr (Ref::formats::two_widths) {
      // A batch of partials comes from a flush of at least `least_batch` sections.
      log.rows += log.size / log.least_batch;
      log.gap = Ref::formats::places - 1;
    }
    // A block that sends this many sections may write one more batch: see hot_sender.
    if constexpr (Ref::formats::combines)
      log.rows += log.size / (batches_per_table * log.least_batch);
    return log;
  }

 private:
  static constexpr std::size_t most_sections = std::size_t{1} << 30;
  /// Messages that a run sorts into one batch.
  static constexpr std::uint32_t tile = flat_writer<Ref>::slots;
};

}  // namespace detail
WARDEN_NAMESPACE_END
