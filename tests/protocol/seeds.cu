// SPDX-License-Identifier: Apache-2.0
// Small launches under very many schedules of the simulated device, and their exact replay.

#include "tests/support/many_schedules.cuh"

#include <warden/simulation.hpp>

#include <set>

namespace {

using test::record_in;
using small = warden::basic_guarded<test::small_policy, test::tally, record_in<5>>;

using tiny_policy = warden::with_values<test::small_policy, &warden::options::block_threads,
                                        test::limits<test::small_policy>.fewest_threads,
                                        &warden::tuning::outbox_bytes_per_thread, 64>;
using tiny = warden::basic_guarded<tiny_policy, test::tally, record_in<2>>;

template <class Kernel = test::send_by_block<2>>
void one_launch(std::uint64_t seed, warden::sim::schedule order) {
  warden::sim::settings s;
  s.seed = seed;
  s.order = order;
  s.pct_horizon = 20'000;
  s.multiprocessors = 2;
  warden::sim::configure(s);
  warden::guarded_options options;
  options.servers = 2;
  options.capacity = 32;
  options.time_limit_seconds = 1;
  test::guarded_records<tiny> g{3, options};
  warden::launch_fused(Kernel{150, 3}, 4, tiny_policy::block_threads, {}, g.guarded);
  g.guarded.wait();
  test::expect_equal(g.records.to_host(), test::expected<2>(150, 3));
  EXPECT_FALSE(warden::sim::last_report().deadlock);
}

template <class Kernel>
void try_one(std::uint64_t seed, warden::sim::schedule order) {
  SCOPED_TRACE("replay with --seed " + std::to_string(seed));
  ASSERT_NO_THROW(one_launch<Kernel>(seed, order));
}

void many(warden::sim::schedule order, test::half part) {
  auto const range = test::seeds();
  for (auto seed = range.first; seed < range.end && !testing::Test::HasFatalFailure(); ++seed) {
    if (test::tries(part, range, seed)) try_one<test::send_by_block<2>>(seed, order);
  }
}

TEST(seeds, random_schedules_one_half) { many(warden::sim::schedule::random, test::half::one); }
TEST(seeds, random_schedules_other_half) { many(warden::sim::schedule::random, test::half::other); }
TEST(seeds, priority_schedules_one_half) { many(warden::sim::schedule::pct, test::half::one); }
TEST(seeds, priority_schedules_other_half) { many(warden::sim::schedule::pct, test::half::other); }

/// Four warps a block, which finish slices out of order.
using four_warps = warden::with_values<test::small_policy, &warden::options::block_threads, 128>;

/// A launch that begins within a slice: its channel then ends in the slice in which it began, and
/// the slice holds messages with the next sequence tag before those with this one have run.
TEST(seeds, launches_from_within_a_slice) {
  auto const [first, end] = test::seeds(3);
  for (std::uint64_t seed = first; seed < end; ++seed) {
    SCOPED_TRACE("replay with --seed " + std::to_string(seed));
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    warden::sim::configure(s);
    test::guarded_records<warden::basic_guarded<four_warps, test::tally, record_in<2>>> g{
        40, {.servers = 1, .capacity = 64, .time_limit_seconds = 1}};
    warden::launch_fused(test::send_by_block<2>{8, 40}, 1, 128, {}, g.guarded);
    ASSERT_NO_THROW(g.guarded.wait());
    g.records.fill_bytes(0);
    warden::launch_fused(test::send_by_block<2>{400, 40}, 4, 128, {}, g.guarded);
    ASSERT_NO_THROW(g.guarded.wait());
    test::expect_equal(g.records.to_host(), test::expected<2>(400, 40));
  }
  warden::sim::configure({});
}

TEST(seeds, replay_exactly_and_differ) {
  std::set<std::uint64_t> hashes;
  auto const [first, end] = test::seeds();
  for (std::uint64_t seed = first; seed < end; ++seed) {
    one_launch(seed, warden::sim::schedule::random);
    std::uint64_t const hash = warden::sim::last_report().trace_hash;
    if (seed % 20 == 0) {
      one_launch(seed, warden::sim::schedule::random);
      ASSERT_EQ(warden::sim::last_report().trace_hash, hash)
          << "seed " << seed << " did not replay";
    }
    hashes.insert(hash);
  }
  EXPECT_GE(hashes.size(), (end - first) * 99 / 100);
  warden::sim::configure({});
}

}  // namespace
