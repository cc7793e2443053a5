// SPDX-License-Identifier: Apache-2.0
// A launch whose blocks put messages into one another's inboxes.
#pragma once

#include "apps/support/grid_barrier.cuh"
#include "apps/support/inboxes.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace test {

namespace simt = warden::simt;

inline constexpr unsigned inbox_threads = 64;

struct letter {
  std::uint32_t number, turn, to;
};

struct inbox_arguments {
  apps::grid_barrier_state* state;
  apps::inboxes_ref<letter> inboxes;
  std::uint32_t* times;   ///< [letter] how often it was taken, or refused
  std::uint32_t* counts;  ///< refused ones; those that were taken from a wrong box, or too late
  std::uint32_t turns;
};

/// In each turn each thread puts a letter into a box of another one of few blocks.
WARDEN_KERNEL void post_letters(inbox_arguments a) {
  apps::grid_barrier barrier{a.state};
  unsigned const threads = simt::block_count() * inbox_threads;
  unsigned const me = simt::block_rank() * inbox_threads + simt::thread_rank();
  for (std::uint32_t turn = 0; turn <= a.turns; ++turn) {
    a.inboxes.take(turn, simt::block_rank(), [&](letter const& l) {
      simt::fetch_add(&a.times[l.number], 1u);
      if (l.turn + 1 != turn || l.to != simt::block_rank()) simt::fetch_add(&a.counts[1], 1u);
    });
    if (turn == a.turns) return;
    letter const mine{turn * threads + me, turn, (me + turn) % 5 % simt::block_count()};
    if (!a.inboxes.put(turn, mine.to, mine)) {
      simt::fetch_add(&a.times[mine.number], 1u);
      simt::fetch_add(&a.counts[0], 1u);
    }
    if (!barrier.wait()) return;
  }
}

/// Posts letters, each of which is taken once or refused once. Returns the number of refused ones.
inline std::uint32_t post(unsigned blocks, std::uint32_t turns, std::uint32_t room) {
  warden::buffer<apps::grid_barrier_state> state{1};
  apps::inboxes<letter> inboxes{blocks, room};
  warden::buffer<std::uint32_t> times{turns * blocks * inbox_threads}, counts{2};
  state.fill_bytes(0);
  times.fill_bytes(0);
  counts.fill_bytes(0);
  inboxes.clear_async({});
  inbox_arguments a{state.data(), inboxes.ref(), times.data(), counts.data(), turns};
  void* all[] = {&a};
  warden::runtime::launch(simt::make_kernel(&post_letters), {blocks, inbox_threads, 0, true}, all,
                          {});
  EXPECT_EQ(times.to_host(), std::vector<std::uint32_t>(times.size(), 1));
  std::vector<std::uint32_t> const seen = counts.to_host();
  EXPECT_EQ(seen[1], 0u) << "letters that came to a wrong box, or late";
  return seen[0];
}

}  // namespace test
