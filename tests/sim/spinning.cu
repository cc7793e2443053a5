// SPDX-License-Identifier: Apache-2.0
// Threads that spin, through warp collectives and barriers, too: right programs end under every
// schedule, and a deadlock is named.

#include "tests/sim/spinning_kernels.cuh"
#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using spinning::masks;
using testing::HasSubstr;
using words = warden::buffer<unsigned>;

void wait() { warden::stream_ref{}.synchronize(); }

/// Sets limits of the following launches, which small programs do not reach.
void set_limits(std::uint64_t max_steps, std::uint64_t max_quiet_steps) {
  warden::sim::settings s = warden::sim::current_settings();
  s.max_steps = max_steps;
  s.max_quiet_steps = max_quiet_steps;
  warden::sim::configure(s);
}

/// Calls `launches(words)` with zeroed words under many schedules; each one ends without error.
void expect_to_end(std::function<void(words&)> const& launches) {
  test::under_many_schedules(1, [&](std::uint64_t) {
    set_limits(1'000'000, 200'000);
    words all{64};
    all.fill_bytes(0);
    launches(all);
    wait();
  });
}
/// Returns the first error of 20 schedules, at least one of which must fail.
std::string error_of(std::function<void(words&)> const& launches) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.max_steps = 3'000'000;
    s.max_quiet_steps = 200'000;
    warden::sim::configure(s);
    words all{64};
    all.fill_bytes(0);
    try {
      launches(all);
      wait();
    } catch (warden::sim::misuse_error const& e) {
      warden::sim::configure({});
      return e.what();
    }
  }
  warden::sim::configure({});
  return "no error";
}

template <masks Masks>
void tiles(words& w) {
  warden::launch(spinning::lock_by_tiles<Masks>, 2, 64, {}, w.data(), w.data() + 32, 3u);
}
TEST(spinning, tiles_that_lock) {
  expect_to_end(tiles<masks::of_tile>);
  EXPECT_THAT(error_of(tiles<masks::of_warp>),
              HasSubstr("lanes of a warp meet in different collectives"));
  EXPECT_THAT(error_of(tiles<masks::of_warp_under_the_lock>), HasSubstr("deadlock: "));
}

TEST(spinning, warps_that_lock) {
  expect_to_end(
      [](words& w) { warden::launch(spinning::lock_by_warps, 4, 64, {}, w.data(), w.data() + 1); });
  // The program changes memory as it spins, so its priority must fall by its steps alone.
  warden::sim::settings s;
  s.order = warden::sim::schedule::pct;
  s.max_steps = 5'000'000;
  warden::sim::configure(s);
  words w{2};
  w.fill_bytes(0);
  warden::launch(spinning::lock_and_count_tries, 2, 64, {}, w.data(), w.data() + 1);
  EXPECT_NO_THROW(wait());
  warden::sim::configure({});
}

template <bool Sets>
void blocks_that_wait(words& w) {
  warden::launch(spinning::wait_as_blocks<Sets>, 4, 64, {}, w.data(), w.data() + 1);
}
TEST(spinning, blocks_that_poll_by_a_vote) {
  expect_to_end(blocks_that_wait<true>);
  EXPECT_THAT(error_of(blocks_that_wait<false>), HasSubstr("deadlock: "));
}

template <bool Ordered>
void two_locks(words& w) {
  warden::launch(spinning::take_two_locks<Ordered>, 2, 32, {}, w.data(), 20u);
}
TEST(spinning, locks_in_opposite_order) {
  expect_to_end(two_locks<true>);
  EXPECT_THAT(error_of(two_locks<false>), HasSubstr("deadlock: "));
}

TEST(spinning, grids_that_are_not_resident) {
  auto const blocks = [](unsigned n) {
    return [n](words& w) {
      warden::launch(spinning::meet_as_grid, n, 64, {}, w.data(), w.data() + 1);
    };
  };
  expect_to_end(blocks(16));
  EXPECT_THAT(error_of(blocks(33)), HasSubstr("deadlock: "));
}

TEST(spinning, counts_that_are_cleared_early) {
  EXPECT_THAT(error_of([](words& w) {
                warden::launch(spinning::clear_the_count_early, 6, 32, {}, w.data(), w.data() + 1);
              }),
              HasSubstr("deadlock: "));
}

template <bool Uniform>
void barriers_in_a_loop(words& w) {
  words const rounds{std::vector<unsigned>{3, 3, 2, 3}};
  warden::launch(spinning::meet_in_a_loop<Uniform>, 4, 64, {}, w.data(), rounds.data());
  wait();
}
TEST(spinning, barriers_of_the_grid_in_a_loop) {
  expect_to_end(barriers_in_a_loop<true>);
  EXPECT_THAT(error_of(barriers_in_a_loop<false>), HasSubstr("deadlock: "));
}

TEST(spinning, loops_that_threads_leave_at_different_times) {
  auto const insert = [](void (*kernel)(int*, int, int)) {
    return [kernel](words& w) {
      warden::launch(kernel, 1, 64, {}, reinterpret_cast<int*>(w.data()), 150, 16);
    };
  };
  expect_to_end(insert(spinning::insert_with_votes));
  EXPECT_THAT(error_of(insert(spinning::insert_with_barriers)),
              HasSubstr("threads of the block have ended"));
}

TEST(spinning, lanes_that_vote_for_ever) {
  EXPECT_THAT(error_of([](words& w) {
                warden::launch(spinning::vote_for_lanes_that_left, 2, 64, {}, w.data());
              }),
              HasSubstr("deadlock: "));
}

TEST(spinning, any_number_of_words) {
  for (unsigned n : {1u, 5u, 64u, 3000u}) {
    words slots{n};
    slots.fill_bytes(0xff);
    EXPECT_THAT(error_of([&](words&) {
                  warden::launch(spinning::look_for_an_empty_slot, 1, 8, {}, slots.data(), n);
                }),
                HasSubstr("deadlock: "))
        << n << " words";
  }
}

TEST(spinning, the_default_limit_names_a_deadlock) {
  warden::sim::configure({});
  words slots{64};
  slots.fill_bytes(0xff);
  warden::launch(spinning::look_for_an_empty_slot, 1, 8, {}, slots.data(), 64u);
  EXPECT_THROW(wait(), warden::sim::misuse_error);
  EXPECT_LT(warden::sim::last_report().steps, 12'000'000u);
}

/// The trace of tiles that lock, under pct, with memory of another size allocated before.
std::uint64_t trace_of_tiles(std::uint64_t seed, std::size_t words_before) {
  words const before{words_before};
  warden::sim::settings s;
  s.seed = seed;
  s.order = warden::sim::schedule::pct;
  s.pct_horizon = 20'000;
  warden::sim::configure(s);
  words w{64};
  w.fill_bytes(0);
  tiles<masks::of_tile>(w);
  wait();
  return warden::sim::last_report().trace_hash;
}
TEST(spinning, a_seed_replays_wherever_its_memory_lies) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(trace_of_tiles(seed, 1), trace_of_tiles(seed, 12'345)) << "seed " << seed;
  warden::sim::configure({});
}

// ---- right programs in which memory does not change for long

TEST(spinning, a_long_read_is_no_deadlock) {
  unsigned const n = 100'000;
  words const many{std::vector<unsigned>(n, 1u)};
  for (auto* kernel : {spinning::read_many_words, spinning::read_many_words_in_a_warp}) {
    for (auto order : {warden::sim::schedule::random, warden::sim::schedule::pct}) {
      warden::sim::settings s;
      s.order = order;
      s.max_quiet_steps = 2'000;
      warden::sim::configure(s);
      words w{2};
      w.fill_bytes(0);
      warden::launch(kernel, 2, 8, {}, many.data(), n, w.data(), w.data() + 1);
      EXPECT_EQ(w.to_host()[1], 2 * n);
    }
  }
  warden::sim::configure({});
}

TEST(spinning, plain_stores_are_seen_by_what_they_leave) {
  warden::sim::settings s;
  s.max_quiet_steps = 2'000;
  warden::sim::configure(s);
  words w{65};
  w.fill_bytes(0);
  warden::launch(spinning::write_plainly, 2, 1, {}, w.data(), 100'000u, w.data() + 64);
  EXPECT_NO_THROW(wait());
  warden::sim::configure({});
}

__global__ void give_up_after(unsigned* flag, long long nanoseconds) {
  long long const begin = clock64();
  while (__ldcg(flag) == 0 && clock64() - begin < nanoseconds) {
  }
}
TEST(spinning, a_loop_with_a_time_limit_is_no_deadlock) {
  expect_to_end([](words& w) { warden::launch(give_up_after, 1, 2, {}, w.data(), 500'000ll); });
}

/// A thread waits until another one has polled a word for long.
__global__ void wait_for_one_that_polls(unsigned* flag) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < 50'000; ++i) __ldcg(flag);
    simt::store_release(flag, 1u);
  } else {
    simt::wait_until([&] { return simt::load_relaxed(flag) == 1; }, [] { return true; },
                     [&](auto watch) { watch(flag); });
  }
}
TEST(spinning, a_thread_in_wait_until_has_a_time_limit_of_its_own) {
  warden::sim::settings s;
  s.max_quiet_steps = 2'000;
  warden::sim::configure(s);
  words w{1};
  w.fill_bytes(0);
  warden::launch(wait_for_one_that_polls, 1, 2, {}, w.data());
  EXPECT_NO_THROW(wait());
  warden::sim::configure({});
}

// ---- sections under pct

__global__ void sections_under_a_lock(unsigned* lock, unsigned* record) {
  spinning::lock(lock);
  simt::section_enter(record);
  *record += 1;
  simt::section_leave(record);
  spinning::unlock(lock);
}
/// Other threads get their turn in a section, but not all that spin for its lock each time.
TEST(spinning, sections_cost_few_steps_under_pct) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = warden::sim::schedule::pct;
    warden::sim::configure(s);
    words w{2};
    w.fill_bytes(0);
    warden::launch(sections_under_a_lock, 4, 8, {}, w.data(), w.data() + 1);
    EXPECT_EQ(w.to_host()[1], 32u);
    EXPECT_LT(warden::sim::last_report().steps, 20'000u) << "seed " << seed;
  }
  warden::sim::configure({});
}

}  // namespace
