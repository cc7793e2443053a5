// SPDX-License-Identifier: Apache-2.0
// Schedules: exact replay, variety, deadlocks found exactly, no wake-up lost, sectors counted.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint32_t* words = nullptr;
  std::uint32_t n = 0;
};

/// Not atomic: a load and a store, so that schedules lose updates.
WARDEN_KERNEL void add_badly(arguments a) {
  for (std::uint32_t i = 0; i < a.n; ++i)
    simt::store_relaxed(a.words, simt::load_relaxed(a.words) + 1);
}

struct outcome {
  std::uint32_t value;
  std::uint64_t hash;
};
outcome run(std::uint64_t seed, warden::sim::schedule order) {
  warden::sim::settings s;
  s.seed = seed;
  s.order = order;
  s.pct_horizon = 500;
  warden::sim::configure(s);
  warden::buffer<std::uint32_t> word{1};
  word.fill_bytes(0);
  simt::launch(&add_badly, 2, 8, 0, {word.data(), 10}, {});
  return {word.to_host()[0], warden::sim::last_report().trace_hash};
}

TEST(schedules, replay_exactly) {
  for (auto order : {warden::sim::schedule::random, warden::sim::schedule::pct}) {
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
      auto const a = run(seed, order), b = run(seed, order);
      ASSERT_EQ(a.hash, b.hash) << "seed " << seed;
      ASSERT_EQ(a.value, b.value) << "seed " << seed;
    }
  }
}

TEST(schedules, differ) {
  std::set<std::uint64_t> hashes;
  std::set<std::uint32_t> values;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto const o = run(seed, warden::sim::schedule::random);
    hashes.insert(o.hash);
    values.insert(o.value);
  }
  EXPECT_GE(hashes.size(), 990u);
  EXPECT_GT(values.size(), 20u) << "lost updates must differ between schedules";
}

/// Every thread does the same: two schedules differ only in the order of threads.
WARDEN_KERNEL void add_once(arguments a) { simt::fetch_add(a.words, 1u); }

TEST(schedules, the_trace_names_the_threads) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> word{1};
    word.fill_bytes(0);
    simt::launch(&add_once, 2, 8, 0, {word.data(), 0}, {});
    hashes.insert(warden::sim::last_report().trace_hash);
  }
  EXPECT_GE(hashes.size(), 99u);
}

TEST(schedules, priorities_decide_but_for_their_changes) {
  std::set<std::uint32_t> values;
  for (unsigned const changes : {0u, 8u}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      warden::sim::settings s;
      s.seed = seed;
      s.order = warden::sim::schedule::pct;
      s.pct_changes = changes;
      s.pct_horizon = 300;
      s.weak_memory = false;
      warden::sim::configure(s);
      warden::buffer<std::uint32_t> word{1};
      word.fill_bytes(0);
      simt::launch(&add_badly, 2, 8, 0, {word.data(), 10}, {});
      values.insert(word.to_host()[0]);
      if (changes == 0) {
        ASSERT_EQ(word.to_host()[0], 160u) << "one thread after another, seed " << seed;
      }
    }
  }
  EXPECT_GT(values.size(), 10u) << "a change of priority must be able to lose an update";
}

/// The thread that began first, before any platform operation, writes down how many ended before
/// it.
WARDEN_KERNEL void begin_and_end(arguments a) {
  bool const first = a.words[0]++ == 0;
  for (std::uint32_t i = 0; i < a.n; ++i) simt::load_relaxed(a.words + 1);
  std::uint32_t const before = simt::fetch_add(a.words + 1, 1u);
  if (first) simt::exchange(a.words + 2, before);
}

TEST(schedules, who_lost_its_priority_comes_last) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = warden::sim::schedule::pct;
    s.pct_changes = 1;
    s.pct_horizon = 15;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{3};
    words.fill_bytes(0);
    simt::launch(&begin_and_end, 2, 8, 0, {words.data(), 20}, {});
    ASSERT_EQ(words.to_host()[2], 15u) << "seed " << seed;
  }
}

/// Each thread spins for its turn without sleeping.
WARDEN_KERNEL void spin(arguments a) {
  std::uint32_t const me = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  while (simt::compare_exchange(a.words, me, me + 1) != me) simt::back_off(0);
}

// A thread that yields falls below all others, including those that have not run yet.
TEST(schedules, priorities_let_no_thread_spin_for_ever) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = warden::sim::schedule::pct;
    s.pct_horizon = 500;
    s.max_steps = 1'000'000;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{2};
    words.fill_bytes(0);
    simt::launch(&spin, 2, 8, 0, {words.data(), 0}, {});
    ASSERT_NO_THROW(warden::stream_ref{}.synchronize()) << "seed " << seed;
    ASSERT_EQ(words.to_host()[0], 16u);
  }
  warden::sim::configure({});
}

/// A ring of threads, each waiting for its predecessor: every wake-up is needed.
WARDEN_KERNEL void pass_a_number(arguments a) {
  std::uint32_t const me = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  std::uint32_t const all = simt::block_count() * simt::block_threads();
  for (std::uint32_t round = 0; round < a.n; ++round) {
    std::uint32_t const turn = round * all + me;
    bool const alive = simt::wait_until([&] { return simt::load_relaxed(a.words) == turn; },
                                        [] { return false; }, [&](auto watch) { watch(a.words); });
    if (!alive) {
      simt::fetch_add(a.words + 1, 1u);
      return;
    }
    simt::store_relaxed(a.words, turn + 1);
  }
}

TEST(schedules, lose_no_wake_up) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::random : warden::sim::schedule::pct;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{2};
    words.fill_bytes(0);
    simt::launch(&pass_a_number, 2, 33, 0, {words.data(), 5}, {});
    ASSERT_EQ(words.to_host()[0], 330u);
    ASSERT_EQ(words.to_host()[1], 0u);
    ASSERT_FALSE(warden::sim::last_report().deadlock);
  }
}

WARDEN_KERNEL void wait_for_nothing(arguments a) {
  bool const alive = simt::wait_until(
      [&] { return simt::load_relaxed(a.words) == 1; },
      [start = simt::nanoseconds()] { return simt::nanoseconds() - start < 2'000'000'000u; },
      [&](auto watch) { watch(a.words); });
  if (!alive) simt::fetch_add(a.words + 1, 1u);
}

TEST(schedules, time_passes_when_everyone_sleeps) {
  warden::sim::configure({});
  warden::buffer<std::uint32_t> words{2};
  words.fill_bytes(0);
  simt::launch(&wait_for_nothing, 1, 8, 0, {words.data(), 0}, {});
  EXPECT_EQ(words.to_host()[1], 8u);
  EXPECT_TRUE(warden::sim::last_report().deadlock);
}

/// Each lane loads a word `n` words from its neighbour's.
WARDEN_KERNEL void load_with_stride(arguments a) {
  for (int i = 0; i < 3; ++i) simt::load_relaxed(a.words + simt::lane_id() * a.n);
  simt::load_relaxed(a.words + simt::lane_id() * a.n);
}

TEST(schedules, sectors_are_those_of_whole_warps) {
  warden::sim::settings s;
  s.count_sectors = true;
  warden::buffer<std::uint32_t> words{1024};
  for (auto const& [stride, sectors] :
       {std::pair{0u, 1u}, {1u, 4u}, {2u, 8u}, {8u, 32u}, {16u, 32u}}) {
    warden::sim::configure(s);
    simt::launch(&load_with_stride, 1, 32, 0, {words.data(), stride}, {});
    EXPECT_EQ(warden::sim::last_report().counts.sectors, 4 * sectors) << "stride " << stride;
    EXPECT_EQ(warden::sim::last_report().counts.global_loads, 128u);
  }
}

}  // namespace
