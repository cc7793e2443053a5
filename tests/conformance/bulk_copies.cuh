// SPDX-License-Identifier: Apache-2.0
// Kernels whose warps copy rows to shared memory and look at each word of them.
#pragma once

#include "tests/support/support.cuh"

#include <warden/simt/copy_pipeline.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <vector>

namespace copied_rows {

namespace simt = warden::simt;

/// Words of the table whose rows are copied.
inline constexpr unsigned table_words = 4096;

struct arguments {
  std::uint32_t const* table;  ///< [word] `word_of(i)`
  std::uint64_t* errors;       ///< number of words that were not those of a row
};

WARDEN_HOST_DEVICE std::uint32_t word_of(std::uint32_t i) {
  return static_cast<std::uint32_t>(test::mix(i + 1));
}
WARDEN_DEVICE void expect(arguments const& a, bool good) {
  if (!good) simt::fetch_add(a.errors, std::uint64_t{1});
}
/// The first word of row `number` of those that are read at one time, in a table of such rows.
WARDEN_DEVICE std::uint32_t first_of_row(unsigned number, unsigned row_words) {
  return static_cast<std::uint32_t>(test::mix(number) % (table_words / row_words)) * row_words;
}

/// One warp fills stages, and the others of the block read them. They use `Used` of the stages.
template <unsigned Stages, unsigned Rows, unsigned RowBytes, unsigned Used = Stages>
WARDEN_KERNEL void by_a_producer(arguments a) {
  using pipeline = simt::copy_pipeline<Stages>;
  constexpr unsigned row_words = RowBytes / 4, fills = 2 * Stages + 3;
  std::byte* const stages = simt::dynamic_shared();
  auto& barriers =
      *reinterpret_cast<typename pipeline::storage*>(stages + Stages * Rows * RowBytes);
  unsigned const warps = simt::block_threads() / simt::warp_size;
  pipeline::start(barriers, 1, warps - 1);
  pipeline mine{barriers, Used};
  auto const alive = [] { return true; };
  unsigned const first = simt::block_rank() * fills * Rows;
  for (unsigned fill = 0; fill < fills; ++fill) {
    std::byte* const stage = stages + mine.stage() * Rows * RowBytes;
    unsigned const number = first + fill * Rows;
    if (simt::warp_rank() == 0) {
      expect(a, mine.acquire(alive));
      // Lanes without a row name none.
      std::uint32_t const* const row =
          simt::lane_id() < Rows ? a.table + first_of_row(number + simt::lane_id(), row_words)
                                 : nullptr;
      mine.commit(stage, row, Rows, RowBytes);
    } else {
      expect(a, mine.wait(alive));
      auto const* const words = reinterpret_cast<std::uint32_t const*>(stage);
      for (unsigned i = simt::lane_id(); i < Rows * row_words; i += simt::warp_size) {
        std::uint32_t const at = first_of_row(number + i / row_words, row_words) + i % row_words;
        expect(a, simt::shared_load(words[i]) == word_of(at));
      }
      mine.release();
    }
  }
  pipeline::end(barriers);
  // The memory has another use.
  for (unsigned i = simt::thread_rank(); i < sizeof(barriers) / 4; i += simt::block_threads())
    simt::shared_store(reinterpret_cast<std::uint32_t*>(&barriers)[i], i);
}

/// A warp fills stages with parts of a row, and the other one reads them. Lane i copies i % 3 times
/// 16 bytes. The producer's lane 0 tells the reader which row it is.
WARDEN_KERNEL void by_parts(arguments a) {
  constexpr unsigned stages = 2, parts = 31, row_words = parts * 4, fills = 5;
  using pipeline = simt::copy_pipeline<stages>;
  std::byte* const arena = simt::dynamic_shared();
  auto* const firsts = reinterpret_cast<std::uint32_t*>(arena + stages * row_words * 4);
  auto& barriers = *reinterpret_cast<pipeline::storage*>(firsts + stages);
  pipeline::start(barriers, 1, 1);
  pipeline mine{barriers};
  auto const alive = [] { return true; };
  unsigned const lane = simt::lane_id();
  for (unsigned fill = 0; fill < fills; ++fill) {
    std::byte* const stage = arena + mine.stage() * row_words * 4;
    if (simt::warp_rank() == 0) {
      std::uint32_t const first = first_of_row(simt::block_rank() * fills + fill, 128);
      unsigned const before = lane / 3 * 3 + (lane % 3 == 2 ? 1 : 0);  // parts of other lanes
      expect(a, mine.acquire(alive));
      if (lane == 0) simt::shared_store(firsts[mine.stage()], first);
      mine.commit_parts(stage + before * 16, a.table + first + before * 4, lane % 3 * 16);
    } else {
      expect(a, mine.wait(alive));
      std::uint32_t const first = simt::shared_load(firsts[mine.stage()]);
      auto const* const words = reinterpret_cast<std::uint32_t const*>(stage);
      for (unsigned i = lane; i < row_words; i += simt::warp_size)
        expect(a, simt::shared_load(words[i]) == word_of(first + i));
      mine.release();
    }
  }
  pipeline::end(barriers);
}

/// Each group of lanes copies the next row while it reads one.
template <unsigned Lanes, unsigned RowBytes>
WARDEN_KERNEL void by_groups(arguments a) {
  constexpr unsigned row_words = RowBytes / 4, rows = 5;
  struct place {
    alignas(16) std::uint32_t words[2][row_words];
    simt::phase_barrier filled[2];
  };
  unsigned const group = simt::thread_rank() / Lanes, rank = simt::thread_rank() % Lanes;
  unsigned const first_lane = simt::lane_id() / Lanes * Lanes;
  unsigned const mask = simt::full_warp >> (simt::warp_size - Lanes) << first_lane;
  place& mine = reinterpret_cast<place*>(simt::dynamic_shared())[group];
  if (rank == 0) {
    mine.filled[0].init(1);
    mine.filled[1].init(1);
  }
  simt::fence_copies();
  simt::sync_block();
  auto const row = [&](unsigned k) {
    return first_of_row((simt::block_rank() * simt::block_threads() + group) * rows + k, row_words);
  };
  auto const start = [&](unsigned k) {
    simt::copy_row(mask, reinterpret_cast<std::byte*>(mine.words[k % 2]), a.table + row(k),
                   RowBytes, mine.filled[k % 2]);
  };
  start(0);
  for (unsigned k = 0; k < rows; ++k) {
    if (k + 1 < rows) start(k + 1);
    expect(a, mine.filled[k % 2].wait(k / 2, [] { return true; }));
    for (unsigned i = rank; i < row_words; i += Lanes)
      expect(a, simt::shared_load(mine.words[k % 2][i]) == word_of(row(k) + i));
  }
}

/// Two threads copy half of a row each, to memory that threads have written before.
template <unsigned RowBytes>
WARDEN_KERNEL void by_two_threads(arguments a) {
  constexpr unsigned row_words = RowBytes / 4, half = RowBytes / 2;
  std::byte* const arena = simt::dynamic_shared();
  auto* const words = reinterpret_cast<std::uint32_t*>(arena);
  auto& barrier = *reinterpret_cast<simt::phase_barrier*>(arena + RowBytes);
  unsigned const me = simt::thread_rank();
  if (me == 0) barrier.init(2);
  for (unsigned phase = 0; phase < 3; ++phase) {
    for (unsigned i = me; i < row_words; i += simt::block_threads())
      simt::shared_store(words[i], phase);
    simt::fence_copies();
    simt::sync_block();
    std::uint32_t const row = first_of_row(simt::block_rank() * 3 + phase, row_words);
    if (unsigned const part = me / 32; me % 32 == 0 && part < 2) {
      simt::copy_bulk(arena + part * half, a.table + row + part * half / 4, half, barrier);
      barrier.arrive_with_bytes(half);
    }
    expect(a, barrier.wait(phase, [] { return true; }));
    for (unsigned i = me; i < row_words; i += simt::block_threads())
      expect(a, simt::shared_load(words[i]) == word_of(row + i));
    simt::sync_block();
  }
}

/// A wait ends if it has no hope, and the phase is as it was.
WARDEN_KERNEL void by_nothing(arguments a) {
  auto& barrier = *reinterpret_cast<simt::phase_barrier*>(simt::dynamic_shared());
  if (simt::thread_rank() == 0) barrier.init(simt::block_threads());
  simt::fence_copies();
  simt::sync_block();
  for (std::uint32_t phase = 0; phase < 3; ++phase) {
    expect(a, !barrier.wait(phase, [] { return false; }));
    simt::sync_block();
    barrier.arrive();
    expect(a, barrier.wait(phase, [] { return true; }));
    simt::sync_block();
  }
}

inline void run(void (*kernel)(arguments), unsigned threads) {
  std::vector<std::uint32_t> words(table_words);
  for (std::uint32_t i = 0; i < table_words; ++i) words[i] = word_of(i);
  warden::buffer<std::uint32_t> const table{words};
  warden::buffer<std::uint64_t> errors{1};
  errors.fill_bytes(0);
  simt::launch(kernel, 2, threads, 16 * 1024, {table.data(), errors.data()}, {});
  EXPECT_EQ(errors.to_host()[0], 0u) << "wrong words in copied rows";
}

}  // namespace copied_rows
