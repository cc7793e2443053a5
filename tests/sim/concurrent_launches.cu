// SPDX-License-Identifier: Apache-2.0
// Launches of different streams on the simulated device run at once where nothing orders them and
// both fit: right pairs end, races and deadlocks are found, and one stream runs as if alone.

#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>
#include <warden/stream.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using testing::HasSubstr;
using words = warden::buffer<unsigned>;

words zeros(std::size_t n) {
  words all{n};
  all.fill_bytes(0);
  warden::stream_ref{}.synchronize();
  return all;
}
void finish(std::vector<warden::stream_ref> const& streams) {
  for (warden::stream_ref const s : streams) s.synchronize();
}

/// Each block waits for its word; then it counts itself.
__global__ void consume(unsigned* w) {
  if (threadIdx.x != 0) return;
  while (__ldcg(&w[1 + blockIdx.x]) == 0) {
  }
  __threadfence();
  atomicAdd(&w[0], 1u);
}
__global__ void produce(unsigned* w, unsigned blocks) {
  for (unsigned b = 0; b < blocks; ++b) {
    __threadfence();
    __stcg(&w[1 + b], 1u);
  }
}
/// A consumer of one block that sleeps until its word is written.
__global__ void consume_asleep(unsigned* w) {
  simt::wait_until([&] { return __ldcg(&w[1]) != 0; }, [] { return false; },
                   [&](auto watch) { watch(&w[1]); });
  atomicAdd(&w[0], 1u);
}

TEST(concurrent_launches, of_a_producer_and_a_consumer_end) {
  test::under_many_schedules(1, [](std::uint64_t) {
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(consume, 4, 32, a, all.data());
    warden::launch(produce, 1, 1, b, all.data(), 4u);
    finish({a, b});
    EXPECT_EQ(all.to_host()[0], 4u);
  });
}

TEST(concurrent_launches, get_what_copies_and_fills_of_other_streams_write) {
  for (bool const asleep : {false, true}) {
    test::under_many_schedules(4, [&](std::uint64_t) {
      words const all = zeros(64);
      std::vector<unsigned> const one{1};
      warden::stream a, b;
      warden::launch(asleep ? consume_asleep : consume, 1, 1, a, all.data());
      if (asleep) {
        warden::copy(all.data() + 1, one.data(), 1, b);
      } else {
        warden::runtime::fill_async(all.data() + 1, 1, sizeof(unsigned), b);
      }
      a.synchronize();
      EXPECT_EQ(all.to_host()[0], 1u);
      EXPECT_FALSE(warden::sim::last_report().deadlock);
      b.synchronize();
    });
  }
}

/// The error of `launches`, which the first of 40 schedules throws that throws any.
std::string error_of(std::function<void()> const& launches) {
  std::string error;
  for (std::uint64_t seed = 1; seed <= 40 && error.empty(); ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.multiprocessors = 2;
    s.max_quiet_steps = 200'000;
    warden::sim::configure(s);
    error = test::error_of<warden::sim::misuse_error>(launches);
  }
  warden::sim::configure({});
  return error;
}

TEST(concurrent_launches, that_do_not_fit_are_named_in_a_deadlock) {
  std::string const error = error_of([] {
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(consume, 16, 1, a, all.data());
    warden::launch(produce, 1, 1, b, all.data(), 16u);
    warden::launch(produce, 1, 1, b, all.data(), 16u);
    finish({a, b});
  });
  EXPECT_THAT(error, HasSubstr("deadlock: "));
  EXPECT_THAT(error, HasSubstr("launches in other streams wait: 2"));
  EXPECT_THAT(error, testing::ContainsRegex(
                         "launch at concurrent_launches.cu:[0-9]+: no room on the device"));
  EXPECT_THAT(error,
              testing::ContainsRegex(
                  "launch at concurrent_launches.cu:[0-9]+: comes after work of its stream"));
}

/// The first block sets the first word. Then all blocks wait for each other.
__global__ void set_and_meet(unsigned* w, unsigned blocks) {
  if (blockIdx.x == 0) atomicExch(&w[1], 1u);
  atomicAdd(&w[2], 1u);
  while (__ldcg(&w[2]) < blocks) {
  }
  atomicAdd(&w[3], gridDim.x);
}

TEST(concurrent_launches, begin_as_many_blocks_as_fit) {
  // One of 16 blocks begins when the other launch has ended.
  test::under_many_schedules(4, [](std::uint64_t) {
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(consume, 1, 1024, a, all.data());
    warden::launch(set_and_meet, 16, 1, b, all.data(), 16u);
    finish({a, b});
    EXPECT_EQ(all.to_host()[0], 1u);
    EXPECT_EQ(all.to_host()[3], 16u * 16u);
  });
}

/// The first block ends after a while, the others when their words are written.
__global__ void make_room_late(unsigned* w) {
  if (blockIdx.x != 0) return consume(w);
  for (int i = 0; i < 1'500; ++i) __nanosleep(100);
}

TEST(concurrent_launches, begin_when_a_block_makes_room) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.multiprocessors = 2;
    warden::sim::configure(s);
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(make_room_late, 16, 1, a, all.data());
    warden::launch(produce, 1, 1, b, all.data(), 16u);
    finish({a, b});
    EXPECT_EQ(all.to_host()[0], 15u);
  }
}

TEST(concurrent_launches, do_not_begin_a_cluster_in_part) {
  auto const pair = [](unsigned blocks) {
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(consume, 1, 1, a, all.data());
    warden::launch(set_and_meet, {.grid = blocks, .block = 1, .cluster = blocks}, b, all.data(),
                   blocks);
    finish({a, b});
  };
  EXPECT_THAT(error_of([&] { pair(16); }), HasSubstr("launches in other streams wait: 1"));
  EXPECT_EQ(error_of([&] { pair(15); }), "");
}

/// Adds to a word without an atomic.
__global__ void add(unsigned* w, unsigned n) {
  for (unsigned i = 0; i < n; ++i) __stcg(w, __ldcg(w) + 1);
}

/// Values that two launches that add leave in a word, under many schedules. A third stream runs
/// next to them.
std::set<unsigned> sums(bool ordered) {
  std::set<unsigned> all;
  test::under_many_schedules(1, [&](std::uint64_t) {
    words const word = zeros(1), other = zeros(1);
    warden::stream a, b, c;
    warden::launch(add, 1, 1, a, word.data(), 10u);
    if (ordered) {
      warden::event e;
      e.record(a);
      warden::stream_ref{b}.wait_for(e);
    }
    warden::launch(add, 1, 1, b, word.data(), 10u);
    warden::launch(add, 1, 1, b, word.data(), 10u);
    warden::launch(add, 1, 1, c, other.data(), 500u);
    finish({a, b});
    all.insert(word.to_host()[0]);
  });
  return all;
}

TEST(concurrent_launches, race_unless_an_event_orders_them) {
  EXPECT_EQ(sums(true), std::set<unsigned>{30});
  EXPECT_GT(sums(false).size(), 3u);
}

__global__ void run_section(unsigned* record) {
  simt::section_enter(record);
  *record += 1;
  simt::section_leave(record);
}

TEST(concurrent_launches, run_sections_that_overlap_or_are_unordered) {
  auto const two = [](bool ordered, unsigned long_launch) {
    words const all = zeros(2);
    warden::stream a, b, c;
    warden::launch(run_section, 1, 1, a, all.data());
    warden::launch(add, 1, 1, c, all.data() + 1, long_launch);
    warden::event e;
    e.record(a);
    if (ordered) warden::stream_ref{b}.wait_for(e);
    warden::launch(run_section, 1, 1, b, all.data());
    finish({a, b, c});
  };
  EXPECT_THAT(error_of([&] { two(false, 0); }), HasSubstr("overlapping sections"));
  EXPECT_EQ(error_of([&] { two(true, 100); }), "");
  // The first section has ended, but nothing says so to the second one.
  std::set<std::string> errors;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    warden::sim::configure(s);
    errors.insert(
        test::error_of<warden::sim::misuse_error>([&] { two(false, 100); }).substr(0, 18));
  }
  warden::sim::configure({});
  EXPECT_THAT(errors, testing::Contains(HasSubstr("unordered sections")));
}

enum class fence { none, of_block, of_device };
__device__ void pass(fence kind) {
  if (kind == fence::of_block) __threadfence_block();
  if (kind == fence::of_device) __threadfence();
}
__global__ void send(unsigned* w, fence kind) {
  __stcg(&w[0], 1u);
  pass(kind);
  __stcg(&w[1], 1u);
}
__global__ void receive(unsigned* w, fence kind) {
  while (__ldcg(&w[1]) == 0) {
  }
  pass(kind);
  __stcg(&w[2], __ldcg(&w[0]));
}

TEST(concurrent_launches, need_fences_of_the_device_between_them) {
  for (fence const kind : {fence::none, fence::of_block, fence::of_device}) {
    std::set<unsigned> received;
    test::under_many_schedules(1, [&](std::uint64_t) {
      words const all = zeros(3);
      warden::stream a, b;
      warden::launch(receive, 1, 1, a, all.data(), kind);
      warden::launch(send, 1, 1, b, all.data(), kind);
      finish({a, b});
      received.insert(all.to_host()[2]);
    });
    EXPECT_EQ(received,
              kind == fence::of_device ? std::set<unsigned>{1} : (std::set<unsigned>{0, 1}));
  }
}

__global__ void count(unsigned* w, unsigned n) {
  for (unsigned i = 0; i < n; ++i) atomicAdd(w, 1u);
}

/// Traces of two launches in streams of their own, the second after the first one if `waits`.
std::vector<std::uint64_t> traces(std::uint64_t seed, bool two_streams, bool waits) {
  warden::sim::settings s;
  s.seed = seed;
  warden::sim::configure(s);
  words const all = zeros(8);
  std::vector<std::uint64_t> hashes;
  warden::stream a, b;
  warden::launch(count, 3, 8, a, all.data(), 20u);
  if (waits) hashes.push_back(warden::sim::last_report().trace_hash);
  warden::launch(count, 3, 8, two_streams ? b : a, all.data(), 20u);
  hashes.push_back(warden::sim::last_report().trace_hash);
  return hashes;
}

TEST(concurrent_launches, replay_by_seed_and_leave_launches_alone_as_they_are) {
  unsigned different = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::vector<std::uint64_t> const alone = traces(seed, false, true);
    EXPECT_EQ(traces(seed, true, true), alone);
    EXPECT_EQ(traces(seed, false, false).back(), alone.back());
    std::vector<std::uint64_t> const at_once = traces(seed, true, false);
    EXPECT_EQ(traces(seed, true, false), at_once);
    different += at_once.back() != alone.back() ? 1 : 0;
  }
  EXPECT_GT(different, 10u);
  warden::sim::configure({});
}

TEST(concurrent_launches, have_reports_of_their_own) {
  std::set<std::uint64_t> last;
  test::under_many_schedules(4, [&](std::uint64_t) {
    words const all = zeros(1);
    std::uint64_t const before = warden::sim::total_counts().global_atomics;
    warden::stream a, b;
    warden::launch(count, 1, 1, a, all.data(), 100u);
    warden::launch(count, 1, 1, b, all.data(), 200u);
    EXPECT_EQ(warden::sim::total_counts().global_atomics, before + 300);
    last.insert(warden::sim::last_report().counts.global_atomics);
  });
  EXPECT_EQ(last, (std::set<std::uint64_t>{100, 200}));
}

__global__ void trap() { __trap(); }

TEST(concurrent_launches, end_together_when_one_fails) {
  test::under_many_schedules(4, [](std::uint64_t) {
    words const all = zeros(64);
    warden::stream a, b;
    warden::launch(consume, 1, 1, a, all.data());
    warden::launch(trap, 1, 1, b);
    EXPECT_THROW(finish({a, b}), warden::sim::misuse_error);
    warden::launch(count, 1, 1, a, all.data(), 5u);
    finish({a, b});
    EXPECT_EQ(all.to_host()[0], 5u);
  });
}

TEST(concurrent_launches, of_two_long_streams_end) {
  test::under_many_schedules(10, [](std::uint64_t) {
    words const all = zeros(2);
    warden::stream a, b;
    for (int i = 0; i < 12; ++i) {
      warden::launch(count, 4, 32, a, all.data(), 2u);
      warden::launch(count, 4, 32, b, all.data() + 1, 2u);
    }
    finish({a, b});
    EXPECT_EQ(all.to_host(), (std::vector<unsigned>{12 * 4 * 32 * 2, 12 * 4 * 32 * 2}));
  });
}

}  // namespace
