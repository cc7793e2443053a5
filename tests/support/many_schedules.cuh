// SPDX-License-Identifier: Apache-2.0
// Small launches under very many schedules of the simulated device.
#pragma once

#include "tests/support/support.cuh"

#include <warden/simulation.hpp>

#include <cstdint>
#include <string>

namespace test {

/// Calls `launches(seed)` with the simulated device under a schedule of each seed: one in `share`
/// of those that WARDEN_SEEDS asks for, or that of WARDEN_SEED alone. Ends with the first that
/// fails.
template <class Launches>
void under_many_schedules(std::uint64_t share, Launches launches) {
  std::uint64_t const only = environment("WARDEN_SEED", 0);
  std::uint64_t const end = only != 0 ? only + 1 : 1 + environment("WARDEN_SEEDS", 1000) / share;
  for (std::uint64_t seed = only != 0 ? only : 1; seed < end && !testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("replay with --seed " + std::to_string(seed));
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 20'000;
    s.multiprocessors = 2;
    warden::sim::configure(s);
    ASSERT_NO_THROW(launches(seed));
  }
  warden::sim::configure({});
}

}  // namespace test
