// SPDX-License-Identifier: Apache-2.0
// Arms that read the segments of a log.

#include "microbench/producer_warp/segments.hpp"

#include <warden/detail/deferred/segment_reader.cuh>
#include <warden/simt/copy_pipeline.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>

namespace producer_warp {
namespace {

namespace simt = warden::simt;

using message_log = warden::detail::section_log<message>;
using message_ring = simt::copy_pipeline<most_stages>;

/// Threads of a block that execute messages, at most. The simulated device has fewer.
constexpr unsigned most_consumers = 512;

struct run_arguments {
  message_log log;
  segments of;
  std::uint32_t stages, stage_messages;
};

/// A block's part of the results: the records of one partition, in shared memory.
class partition_records {
 public:
  WARDEN_DEVICE partition_records(run_arguments const& a, std::byte* shared)
      : a_{a}, sums_{reinterpret_cast<std::uint32_t*>(shared), a.of.records} {}

  /// Sets all sums to 0. Collective over the block, with a barrier.
  WARDEN_DEVICE void start() {
    for (unsigned i = simt::thread_rank(); i < a_.of.records; i += simt::block_threads())
      sums_[i] = 0;
    simt::sync_block();
  }
  WARDEN_DEVICE void execute(message const& m) {
    simt::shared_fetch_add(sums_[m.local], static_cast<std::uint32_t>(m.value));
    a_.of.outcomes[m.index] = static_cast<std::uint32_t>(m.value >> 32) ^ m.local;
  }
  /// Writes the sums to memory. Collective over the block, with barriers.
  WARDEN_DEVICE void finish(std::uint32_t partition) {
    simt::sync_block();
    for (unsigned i = simt::thread_rank(); i < a_.of.records; i += simt::block_threads())
      a_.of.sums[std::size_t{partition} * a_.of.records + i] = sums_[i];
    simt::sync_block();
  }

 private:
  run_arguments const& a_;
  simt::shared_span<std::uint32_t> sums_;
};

template <bool Meets>
WARDEN_KERNEL void WARDEN_BOUNDS(most_consumers, 1) by_readers(run_arguments const a) {
  using reader = warden::detail::segment_reader<message>;
  constexpr unsigned per_thread = 8;
  simt::assume_one_dimension();
  std::byte* const shared = simt::dynamic_shared();
  auto& reading = *reinterpret_cast<reader::storage*>(shared);
  partition_records records{a, shared + sizeof(reading)};
  for (std::uint32_t p = simt::block_rank(); p < a.of.partitions; p += simt::block_count()) {
    reader messages{a.log, p, {0, a.of.rows}, reading};
    records.start();
    bool more = messages.has_more();
    if constexpr (Meets) more = simt::sync_block_or(more);
    while (more) {
      message m[per_thread];
      unsigned const arrived = messages.receive(m);
      more = messages.has_more();
      if constexpr (Meets) more = simt::sync_block_or(more);
      WARDEN_UNROLL
      for (unsigned k = 0; k < per_thread; ++k)
        if ((arrived >> k & 1u) != 0) records.execute(m[k]);
    }
    records.finish(p);
  }
}

/// A stage holds messages of up to 32 rows, one after the other.
///
/// Release and acquire, in addition to those of by_producer: lane 0 of the producer warp stores the
/// number of messages before its arrival at `filled`; a consumer loads it after its wait. The
/// consumer's arrival at `read` orders that load before the next store.
WARDEN_KERNEL void WARDEN_BOUNDS(most_consumers + simt::warp_size, 1)
    by_segment_producer(run_arguments const a) {
  simt::assume_one_dimension();
  std::byte* const stages = simt::dynamic_shared();
  std::size_t const stage_bytes = a.stage_messages * sizeof(message);
  std::byte* const after = stages + a.stages * stage_bytes;
  auto& barriers = *reinterpret_cast<message_ring::storage*>(after);
  simt::shared_span<std::uint32_t> const counts{
      reinterpret_cast<std::uint32_t*>(after + sizeof(barriers)), most_stages};
  partition_records records{a, after + sizeof(barriers) + most_stages * sizeof(std::uint32_t)};
  unsigned const consumers = simt::block_threads() - simt::warp_size;
  message_ring::start(barriers, 1, consumers / simt::warp_size);
  message_ring mine{barriers, a.stages};
  auto const forever = [] { return true; };
  // Fills a stage with `count` messages, of which this lane copies `own` from `from` to place `to`.
  auto const fill = [&](unsigned count, unsigned to, message const* from, unsigned own) {
    mine.acquire(forever);
    std::byte* const stage = stages + mine.stage() * stage_bytes;
    if (simt::lane_id() == 0) simt::shared_store(counts[mine.stage()], count);
    mine.commit_parts(stage + to * sizeof(message), from, own * unsigned{sizeof(message)});
  };
  for (std::uint32_t p = simt::block_rank(); p < a.of.partitions; p += simt::block_count()) {
    records.start();
    if (simt::warp_rank() == 0) {
      auto const words_of = [&](std::uint32_t row) {
        return row < a.of.rows ? a.log.words_of(p, p + 1, row) : message_log::row_words{0, 0, 0};
      };
      message_log::row_words words = words_of(simt::lane_id());
      for (std::uint32_t first = 0; first < a.of.rows; first += simt::warp_size) {
        // Loads the next rows' words before the copies, so that they arrive during them.
        auto const next = words_of(first + simt::warp_size + simt::lane_id());
        warden::detail::log_places const segment = a.log.segment_of(words);
        std::uint32_t const begin = warden::detail::warp_sum_before(segment.count);
        std::uint32_t const end = begin + segment.count;
        std::uint32_t const all = simt::shuffle(simt::full_warp, end, simt::warp_size - 1);
        // Equal parts: otherwise the last stage of the rows could have few messages.
        std::uint32_t const parts = (all + a.stage_messages - 1) / a.stage_messages;
        std::uint32_t const part = parts == 0 ? 0 : (all + parts - 1) / parts;
        for (std::uint32_t done = 0; done < all; done += part) {
          std::uint32_t const last = done + part < all ? done + part : all;
          std::uint32_t const from = begin > done ? begin : done, to = end < last ? end : last;
          fill(last - done, from - done, a.log.pool + segment.begin + (from - begin),
               from < to ? to - from : 0);
        }
        words = next;
      }
      fill(0, 0, nullptr, 0);
    } else {
      for (;;) {
        mine.wait(forever);
        unsigned const count = simt::shared_load(counts[mine.stage()]);
        auto const* const stage =
            reinterpret_cast<message const*>(stages + mine.stage() * stage_bytes);
        for (unsigned q = simt::thread_rank() - simt::warp_size; q < count; q += consumers)
          records.execute(stage[q]);
        mine.release();
        if (count == 0) break;
      }
    }
    records.finish(p);
  }
  message_ring::end(barriers);
}

}  // namespace

std::vector<std::string> segment_arm_names() {
  std::vector<std::string> names{"reader", "reader_meets"};
  for (unsigned n = least_stages; n <= most_stages; ++n)
    names.push_back("producer_" + std::to_string(n));
  return names;
}

std::function<void()> plan_of_segments(std::string const& arm, segments const& s,
                                       std::uint32_t stage_bytes) {
  run_arguments a{};
  a.of = s;
  a.log.pool = s.pool, a.log.offsets = s.offsets, a.log.begins = s.begins;
  a.log.size = s.places, a.log.rows = s.rows;
  void (*kernel)(run_arguments) = arm == "reader" ? &by_readers<false> : &by_readers<true>;
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  unsigned threads = simulated ? 64 : most_consumers;
  std::size_t shared =
      sizeof(warden::detail::warp_reader_storage) + s.records * sizeof(std::uint32_t);
  if (unsigned const stages = stages_of(arm); stages != 0) {
    kernel = &by_segment_producer;
    threads += simt::warp_size;
    a.stages = stages;
    a.stage_messages = std::max<std::uint32_t>(stage_bytes / sizeof(message), 1);
    shared = std::size_t{stages} * a.stage_messages * sizeof(message) +
             sizeof(message_ring::storage) + most_stages * sizeof(std::uint32_t) +
             s.records * sizeof(std::uint32_t);
  }
  auto const resident = static_cast<std::uint32_t>(
      warden::runtime::resident_blocks(simt::make_kernel(kernel), threads, shared));
  std::uint32_t const blocks = std::min(resident, s.partitions);
  return [=] { simt::launch(kernel, blocks, threads, shared, a, {}); };
}

}  // namespace producer_warp
