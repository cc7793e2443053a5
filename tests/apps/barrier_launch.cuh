// SPDX-License-Identifier: Apache-2.0
// A launch whose blocks do nothing but wait for one another.
#pragma once

#include "apps/support/grid_barrier.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace test {

namespace simt = warden::simt;

inline constexpr unsigned barrier_threads = 64;

struct barrier_arguments {
  apps::grid_barrier_state* state;
  std::uint32_t* words;   ///< [block][thread]
  std::uint32_t* errors;  ///< unexpected words; failed barriers
  std::uint32_t rounds;
  std::uint32_t absent;  ///< the round in which the last block leaves
};

/// In each round every thread writes a word, and reads those of another block.
WARDEN_KERNEL void pass_barriers(barrier_arguments a) {
  apps::grid_barrier barrier{a.state, {.nanoseconds = 2'000'000'000}};
  unsigned const me = simt::thread_rank(), block = simt::block_rank();
  unsigned const blocks = simt::block_count();
  std::uint32_t before = 0, after = 0;
  for (std::uint32_t round = 1; round <= a.rounds; ++round) {
    if (round == a.absent && block + 1 == blocks) return;
    simt::store_relaxed(&a.words[block * barrier_threads + me], round);
    bool const came = barrier.wait([&] { before = round; }, [&] { after = round; });
    if (!came) {
      if (me == 0) simt::fetch_add(&a.errors[1], 1u);
      return;
    }
    unsigned const other = (block + round) % blocks;
    // Another thread wrote it, and another one again of this block waited.
    if (simt::load_relaxed(&a.words[other * barrier_threads + (me + 1) % barrier_threads]) != round)
      simt::fetch_add(&a.errors[0], 1u);
    if (!barrier.wait()) return;
  }
  if ((before != 0) != (me == 0) || before != after) simt::fetch_add(&a.errors[0], 1u);
}

struct barrier_launch {
  warden::buffer<apps::grid_barrier_state> state{1};
  warden::buffer<std::uint32_t> words, errors{2};
  unsigned blocks;

  explicit barrier_launch(unsigned n) : words{n * barrier_threads}, blocks{n} {}

  void run(std::uint32_t rounds, std::uint32_t absent = 0) {
    state.fill_bytes(0);
    words.fill_bytes(0);
    errors.fill_bytes(0);
    barrier_arguments a{state.data(), words.data(), errors.data(), rounds, absent};
    void* all[] = {&a};
    warden::runtime::launch(simt::make_kernel(&pass_barriers), {blocks, barrier_threads, 0, true},
                            all, {});
  }
};

}  // namespace test
