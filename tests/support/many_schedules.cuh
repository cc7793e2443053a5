// SPDX-License-Identifier: Apache-2.0
// Small launches under very many schedules of the simulated device.
#pragma once

#include "tests/support/support.cuh"

#include <warden/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace test {

/// Without WARDEN_SEEDS.
inline constexpr std::uint64_t usual_seeds = 100;

/// How many schedules a test tries that takes one in `share` of those asked for: 100 at least, if
/// as many are asked for.
constexpr std::uint64_t seeds_of(std::uint64_t asked, std::uint64_t share) {
  return std::max(asked / share, std::min<std::uint64_t>(asked, 100));
}
static_assert(seeds_of(usual_seeds, 1) == 100 && seeds_of(usual_seeds, 20) == 100);
static_assert(seeds_of(1000, 2) == 500 && seeds_of(30, 2) == 30 && seeds_of(1, 20) == 1);

/// The seeds of such a test: from WARDEN_SEEDS, or that of WARDEN_SEED alone. WARDEN_MORE_SEEDS is
/// like WARDEN_SEEDS, but leaves out what is tried without either; a test that takes one in 5 or
/// more tries a few others nevertheless.
struct seed_range {
  std::uint64_t first, end;
};
inline seed_range seeds(std::uint64_t share = 1) {
  std::uint64_t const only = environment("WARDEN_SEED", 0);
  if (only != 0) return {only, only + 1};
  std::uint64_t const more = environment("WARDEN_MORE_SEEDS", 0);
  std::uint64_t const others = 1 + seeds_of(usual_seeds, share);
  if (more != 0) return {others, std::max(1 + seeds_of(more, share), others + more / (5 * share))};
  return {1, 1 + seeds_of(environment("WARDEN_SEEDS", usual_seeds), share)};
}

/// Two tests try the seeds of one range, so that they can run at once; a single one is tried by
/// both.
enum class half { one, other };
inline bool tries(half part, seed_range range, std::uint64_t seed) {
  return range.end == range.first + 1 || (seed / 4 % 2 == 0) == (part == half::one);
}

/// Calls `launches(seed)` with the simulated device under a schedule of each seed of
/// `seeds(share)`. Ends with the first that fails.
template <class Launches>
void under_many_schedules(std::uint64_t share, Launches launches) {
  auto const [first, end] = seeds(share);
  for (std::uint64_t seed = first; seed < end && !testing::Test::HasFailure(); ++seed) {
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

/// Makes one block resident in such launches, whatever the grid; called before the first. No other
/// block then runs a tile pair that one waits for.
inline void let_one_block_be_resident() {
  warden::sim::settings s = warden::sim::current_settings();
  s.multiprocessors = s.blocks_per_multiprocessor = 1;
  warden::sim::configure(s);
}
/// Says how much shared memory a block can have in such launches; called before the first.
inline void let_blocks_have(unsigned shared_bytes) {
  warden::sim::settings s = warden::sim::current_settings();
  s.shared_bytes_per_block = shared_bytes;
  warden::sim::configure(s);
}

}  // namespace test
