// SPDX-License-Identifier: Apache-2.0
// Sections on two records under very many schedules of the simulated device.

#include "sweep.cuh"

#include <warden/simulation.hpp>

namespace {

/// Two to four servers of 64 or 128 threads, two to eight records, under as many schedules as are
/// asked for.
template <warden::placement Where>
void under_many_schedules(std::uint64_t part) {
  std::uint64_t const only = test::environment("WARDEN_SEED", 0);
  std::uint64_t const seeds = test::environment("WARDEN_SEEDS", 500);
  std::uint64_t const first = only != 0 ? only : 1 + part * (seeds / 2);
  std::uint64_t const end = only != 0 ? only + 1 : 1 + (part + 1) * (seeds / 2);
  for (std::uint64_t seed = first; seed < end && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("replay with --seed " + std::to_string(seed));
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 40'000;
    s.stale_loads = 2u << 2 * (seed % 3);
    s.multiprocessors = 3;
    warden::sim::configure(s);
    std::uint32_t const records = static_cast<std::uint32_t>(2 + seed % 7);
    warden::guarded_options const options{.servers = static_cast<unsigned>(2 + seed % 3),
                                          .capacity = 32,
                                          .chunk = seed % 5 == 0 ? 2u : 1u,
                                          .time_limit_seconds = 1,
                                          .forward_capacity = seed % 4 == 0 ? 128u : 64u};
    // With 128 threads three warps read the ring. Both, under both kinds of schedule.
    if (seed / 2 % 2 == 0) {
      pairs::sweep_once<pairs::nested_policy<64, Where>>(120, records, options);
    } else {
      pairs::sweep_once<pairs::nested_policy<64, Where, 128>>(120, records, options);
    }
    EXPECT_FALSE(warden::sim::last_report().deadlock);
  }
  warden::sim::configure({});
}

TEST(nested_seeds, in_memory_first_half) { under_many_schedules<warden::placement::in_memory>(0); }
TEST(nested_seeds, in_memory_second_half) { under_many_schedules<warden::placement::in_memory>(1); }
TEST(nested_seeds, on_chip_first_half) { under_many_schedules<warden::placement::on_chip>(0); }
TEST(nested_seeds, on_chip_second_half) { under_many_schedules<warden::placement::on_chip>(1); }

}  // namespace
