// SPDX-License-Identifier: Apache-2.0
// When a wait is given up, in the exact time of the simulated device: not before its limit, not
// long after it, and not while anything moves.

#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>
#include <warden/simulation.hpp>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<2>>;

class time_limit : public testing::Test {
 protected:
  void SetUp() override { warden::sim::configure({}); }
  void TearDown() override { warden::sim::configure({}); }
};

double seconds() { return static_cast<double>(warden::sim::last_report().nanoseconds) * 1e-9; }

warden::guarded_options options(double limit_seconds, std::uint32_t minimum_polls) {
  warden::guarded_options o;
  o.servers = 2;
  o.capacity = 32;
  o.time_limit_seconds = limit_seconds;
  o.minimum_polls = minimum_polls;
  return o;
}

/// One slot is reserved and never filled.
struct reserve_and_forget {
  __device__ void operator()(warden::client_block const& at, small::ref const& ref) const {
    if (at.global_rank() == 0) ref.channel_of(1).reserve(1);
  }
};

/// How long the launch lasted.
double seconds_until_given_up(warden::guarded_options const& o) {
  test::guarded_records<small> g{10, o};
  warden::launch_fused(reserve_and_forget{}, 3, 64, {}, g.guarded);
  double const took = seconds();
  EXPECT_THROW(g.guarded.wait(), warden::timeout_error);
  return took;
}

TEST_F(time_limit, is_kept) {
  for (double const limit : {1.0, 2.5, 20.0}) {
    double const took = seconds_until_given_up(options(limit, 64));
    EXPECT_GE(took, limit);
    EXPECT_LE(took, 1.25 * limit + 0.3);
  }
}

TEST_F(time_limit, is_not_enough_without_the_minimum_of_polls) {
  // A waiting thread looks every 64 polls, which here is whenever a tenth of a second has passed.
  double const took = seconds_until_given_up(options(1, 64 * 100));
  EXPECT_GE(took, 10);
  EXPECT_LE(took, 11);
}

TEST_F(time_limit, is_ten_seconds_by_default) {
  warden::guarded_options o;
  o.servers = 2;
  double const took = seconds_until_given_up(o);
  EXPECT_GE(took, 10);
  EXPECT_LE(took, 12.5);
}

/// Blocks that take their time, and then send one message each, or none.
struct slow {
  bool sends;
  __device__ void operator()(warden::client_block const& at, small::ref const& ref) const {
    warden::simt::wait_until([] { return false; },
                             [start = warden::simt::nanoseconds(), turn = at.block_index() % 6] {
                               return warden::simt::nanoseconds() - start <
                                      400'000'000u + turn * 10'000'000u;
                             },
                             [](auto) {});
    if (sends && at.thread_rank() == 0)
      small::thread_client{ref, at}.send(at.block_index() % 10, record_in<2>::of(1));
  }
};

TEST_F(time_limit, begins_again_whenever_something_moves) {
  warden::sim::settings s;
  s.multiprocessors = 1;  // eight blocks: two servers, six for the clients
  for (bool const sends : {true, false}) {
    warden::sim::configure(s);
    test::guarded_records<small> g{10, options(1, 64)};
    warden::launch_fused(slow{sends}, 60, 64, {}, g.guarded);
    EXPECT_GT(seconds(), 3) << "several times the limit";
    EXPECT_NO_THROW(g.guarded.wait());
    std::uint64_t count = 0;
    for (auto const& t : g.records.to_host()) count += t.count;
    EXPECT_EQ(count, sends ? 60u : 0u);
  }
}

/// How often a wait of so many questions reads the launch's progress, which takes it long.
unsigned reads_of_a_wait(unsigned questions) {
  warden::buffer<warden::launch_health> health{1};
  health.fill_bytes(0);
  warden::buffer<unsigned> reads{1};
  reads.fill_bytes(0);
  struct arguments {
    warden::launch_health* health;
    unsigned* reads;
    unsigned questions;
  };
  warden::simt::launch(
      +[](arguments a) {
        warden::watchdog dog{a.health, {800'000'000, 1u << 30}};
        warden::simt::wait_until([] { return false; },
                                 [&, asked = 0u]() mutable {
                                   dog.hopeful([&] { return ++*a.reads; }, [] {});
                                   return ++asked < a.questions;
                                 },
                                 [](auto) {});
      },
      1, 1, 0, arguments{health.data(), reads.data(), questions}, {});
  warden::stream_ref{}.synchronize();
  return reads.to_host()[0];
}

TEST_F(time_limit, is_nothing_to_a_short_wait) {
  // Here a tenth of a second passes from one question to the next, and an eighth of the limit.
  EXPECT_EQ(reads_of_a_wait(1), 0u);
  unsigned const reads = reads_of_a_wait(40);
  EXPECT_GE(reads, 10u);
  EXPECT_LE(reads, 40u);
}

}  // namespace
