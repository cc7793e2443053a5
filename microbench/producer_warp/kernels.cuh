// SPDX-License-Identifier: Apache-2.0
// Kernels of the arms.
#pragma once

#include "microbench/producer_warp/operations.cuh"

#include <warden/simt/copy_pipeline.cuh>
#include <warden/simt/register_share.cuh>

#include <cstddef>
#include <cstdint>

namespace producer_warp {

inline constexpr unsigned loading_threads = 256;  ///< threads of a block without a producer warp
/// Pieces that a thread reads before it stores the first of them, in arms other than `plain`.
inline constexpr unsigned batch = 4;

WARDEN_DEVICE void store(work const& a, std::uint32_t p, piece const& value) {
  reinterpret_cast<piece*>(a.out)[p] = value;
}

/// Loads one piece at a time.
template <class Operation>
WARDEN_KERNEL void by_loads(work const a) {
  simt::assume_one_dimension();
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  WARDEN_NO_UNROLL
  for (std::uint32_t p = simt::block_rank() * simt::block_threads() + simt::thread_rank();
       p < a.pieces; p += step)
    store(a, p, Operation::result(Operation::load(a, Operation::place(a, p))));
}

/// Loads several pieces at a time. It loads the pieces of the next step before it stores those of
/// this step, and their places one step earlier.
template <class Operation>
WARDEN_KERNEL void by_unrolled_loads(work const a) {
  simt::assume_one_dimension();
  std::uint32_t const threads = simt::block_threads(), step = simt::block_count() * threads * batch;
  std::uint32_t places[batch];
  typename Operation::input inputs[batch];
  auto const locate = [&](std::uint32_t first) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < batch; ++k)
      if (first + k * threads < a.pieces) places[k] = Operation::place(a, first + k * threads);
  };
  auto const load = [&](std::uint32_t first) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < batch; ++k)
      if (first + k * threads < a.pieces) inputs[k] = Operation::load(a, places[k]);
  };
  std::uint32_t first = simt::block_rank() * threads * batch + simt::thread_rank();
  locate(first);
  load(first);
  locate(first + step);
  WARDEN_NO_UNROLL
  while (first < a.pieces) {
    piece results[batch];
    WARDEN_UNROLL
    for (unsigned k = 0; k < batch; ++k) results[k] = Operation::result(inputs[k]);
    load(first + step);
    locate(first + 2 * step);
    WARDEN_UNROLL
    for (unsigned k = 0; k < batch; ++k)
      if (first + k * threads < a.pieces) store(a, first + k * threads, results[k]);
    first += step;
  }
}

/// Warps of a block with a producer warp. Registers move between groups of warps, so a producer
/// warp that gives up registers has a group of its own, whose other warps have no work.
template <bool Rebalanced>
struct block_of_producer {
  static constexpr unsigned before_consumers = Rebalanced ? simt::warps_in_group : 1;  // warps
  static constexpr unsigned consumers = 4;                                             // warps
  static constexpr unsigned threads = (before_consumers + consumers) * simt::warp_size;
  static constexpr unsigned resident = 4;  // blocks of a multiprocessor, at least
  static constexpr unsigned registers = simt::bounded_registers(threads, resident);
  static constexpr unsigned of_producer = 24;  // registers: the fewest
  static constexpr unsigned of_consumer = 2 * registers - of_producer;
};

using ring = simt::copy_pipeline<most_stages>;

/// The producer warp computes addresses and fills a ring of stages by bulk copies; the other warps
/// of the block compute from the stages. No warp waits for another block.
///
/// Release and acquire, in `ring`:
/// - A stage's copies complete the bytes of `filled[stage]`, which releases them; a consumer's
///   `wait` acquires them and reads.
/// - A consumer warp's arrival at `read[stage]`, after all its lanes have read, releases the stage;
///   the producer's `acquire` acquires it and lets copies overwrite.
template <class Operation, bool Rebalanced>
WARDEN_KERNEL void WARDEN_BOUNDS(block_of_producer<Rebalanced>::threads,
                                 block_of_producer<Rebalanced>::resident)
    by_producer(work const a) {
  using block = block_of_producer<Rebalanced>;
  simt::assume_one_dimension();
  std::byte* const stages = simt::dynamic_shared();
  auto& barriers = *reinterpret_cast<ring::storage*>(stages + a.stages * a.stage_bytes);
  ring::start(barriers, 1, block::consumers);
  ring mine{barriers, a.stages};
  std::uint32_t const step = simt::block_count() * a.stage_pieces;
  std::uint32_t p = simt::block_rank() * a.stage_pieces;  // first piece of a stage
  auto const pieces_of = [&](std::uint32_t first) {
    return first >= a.pieces                   ? 0
           : a.pieces - first < a.stage_pieces ? a.pieces - first
                                               : a.stage_pieces;
  };
  auto const forever = [] { return true; };
  if (simt::warp_rank() < block::before_consumers) {
    if constexpr (Rebalanced) simt::give_up_registers<block::of_producer>();
    if (simt::warp_rank() == 0) {
      auto const row_of = [&](std::uint32_t first) {
        return Operation::row(a, first, pieces_of(first), simt::lane_id());
      };
      void const* row = p < a.pieces ? row_of(p) : nullptr;
      WARDEN_NO_UNROLL
      for (; p < a.pieces; p += step) {
        // The next addresses may be in memory: their loads overlap the wait.
        void const* const next = p + step < a.pieces ? row_of(p + step) : nullptr;
        mine.acquire(forever);
        stage_rows const rows = Operation::rows(a, pieces_of(p));
        mine.commit(stages + mine.stage() * a.stage_bytes, row, rows.count, rows.bytes);
        row = next;
      }
    }
  } else {
    if constexpr (Rebalanced) simt::take_registers<block::of_consumer>();
    constexpr unsigned threads = block::consumers * simt::warp_size;
    unsigned const me = simt::thread_rank() - block::before_consumers * simt::warp_size;
    WARDEN_NO_UNROLL
    for (; p < a.pieces; p += step) {
      unsigned const n = pieces_of(p);
      mine.wait(forever);
      std::byte const* const stage = stages + mine.stage() * a.stage_bytes;
      for (unsigned base = me; base < n; base += batch * threads) {
        piece results[batch];
        WARDEN_UNROLL
        for (unsigned k = 0; k < batch; ++k) {
          unsigned const q = base + k * threads;
          if (q < n) results[k] = Operation::result(Operation::staged(stage, q, n));
        }
        WARDEN_UNROLL
        for (unsigned k = 0; k < batch; ++k)
          if (base + k * threads < n) store(a, p + base + k * threads, results[k]);
      }
      mine.release();
    }
  }
  ring::end(barriers);
}

}  // namespace producer_warp
