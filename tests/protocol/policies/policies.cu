// SPDX-License-Identifier: Apache-2.0
// Random programs on logs, each by one of the policies in choices.hpp, with AddressSanitizer.

#include "choices.hpp"

#include "tests/support/many_schedules.cuh"

#include <warden/simulation.hpp>

#include <sanitizer/common_interface_defs.h>

#include <cstdint>
#include <cstdio>

/// A launch that fails abandons its fibers, and what they own.
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }

namespace policies {

template <executor E, order O, std::size_t I = 0>
void run_seed(std::uint64_t seed);

namespace {

std::uint64_t current_seed = 0;

void print_replay() {
  std::printf("replay: test_policies_sim --seed %llu\n",
              static_cast<unsigned long long>(current_seed));
  std::fflush(stdout);
}

TEST(policies, random_programs) {
  __sanitizer_set_death_callback(&print_replay);
  auto const [first, end] = test::seeds();
  for (current_seed = first; current_seed < end && !HasFailure(); ++current_seed) {
    policy_choices const& p = list[current_seed % count];
    auto const run = [&] {
      switch (p.executor) {
        case executor::sorted:
          return p.order == order::sequential
                     ? run_seed<executor::sorted, order::sequential>(current_seed)
                     : run_seed<executor::sorted, order::unordered>(current_seed);
        case executor::locks:
          return run_seed<executor::locks, order::unordered>(current_seed);
        case executor::atomics:
          return run_seed<executor::atomics, order::unordered>(current_seed);
        case executor::pair_messages:
          return run_seed<executor::pair_messages, order::unordered>(current_seed);
      }
    };
    EXPECT_NO_THROW(run());
    if (HasFailure()) print_replay();
  }
  warden::sim::configure({});
}

}  // namespace
}  // namespace policies
