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
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
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

WARDEN_DEVICE void let_pass(std::uint64_t nanoseconds) {
  warden::simt::wait_until([] { return false; },
                           [=, start = warden::simt::nanoseconds()] {
                             return warden::simt::nanoseconds() - start < nanoseconds;
                           },
                           [](auto) {});
}

/// Blocks that take their time, and then send one message each, or none.
struct slow {
  bool sends;
  __device__ void operator()(warden::virtual_block const& at, small::ref const& ref) const {
    let_pass(400'000'000u + at.block_index() % 6 * 10'000'000u);
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

/// Sections that take their time.
struct slow_section {
  static constexpr bool reads_other_memory = false;
  std::uint32_t milliseconds;
  __device__ std::uint32_t operator()(test::tally& t, warden::no_context) const {
    let_pass(milliseconds * std::uint64_t{1'000'000});
    t.count += 1;
    return milliseconds;
  }
};
/// Operation i is for record i mod `records`; one more is called, and its answer waited for.
struct send_slow {
  std::uint32_t n, records, milliseconds;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      auto const id = static_cast<std::uint32_t>(i) % records;
      client.send(id, slow_section{milliseconds}, i < n);
    });
    client.flush();
    if (at.thread_rank() == 0)
      static_cast<void>(warden::thread_client<Ref>{ref, at}.call(0, slow_section{1}).get());
  }
};

using many_locks = test::small<warden::executor::locks<1024>>;
/// All messages are there from the beginning, and no slots are given back before all have run, a
/// few at a time. A client waits for the last one.
TEST_F(time_limit, begins_again_with_every_section) {
  using guarded = warden::basic_guarded<many_locks, test::tally, slow_section>;
  test::guarded_records<guarded> g{
      512, {.servers = 1, .capacity = 8192, .time_limit_seconds = 1, .minimum_polls = 64}};
  warden::launch_fused(send_slow{1024, 512, 200}, 1, 64, {}, g.guarded);
  EXPECT_GT(seconds(), 3) << "several times the limit";
  EXPECT_NO_THROW(g.guarded.wait());
  auto const records = g.records.to_host();
  for (std::uint32_t k = 0; k < 512; ++k) ASSERT_EQ(records[k].count, k == 0 ? 3u : 2u);
}

using pair_messages_policy = test::small<warden::executor::pair_messages<64>>;
/// A thread that waits for a lock that is held longer than the limit does not go on without it.
TEST_F(time_limit, is_no_way_past_a_lock) {
  test::guarded_records<warden::basic_guarded<pair_messages_policy, test::tally, slow_section>> g{
      1, options(1, 64)};
  warden::launch_fused(send_slow{8, 1, 4000}, 1, 64, {}, g.guarded);
  EXPECT_THROW(g.guarded.wait(), warden::timeout_error);
}

/// Returns how often a wait of that many questions reads the launch's progress, which is slow.
unsigned reads_of_a_wait(unsigned questions) {
  warden::buffer<warden::detail::launch_health> health{1};
  health.fill_bytes(0);
  warden::buffer<unsigned> reads{1};
  reads.fill_bytes(0);
  struct arguments {
    warden::detail::launch_health* health;
    unsigned* reads;
    unsigned questions;
  };
  warden::simt::launch(
      +[](arguments a) {
        warden::detail::watchdog dog{a.health, {800'000'000, 1u << 30}};
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
