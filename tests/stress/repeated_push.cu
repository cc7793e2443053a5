// SPDX-License-Identifier: Apache-2.0
// Very many pushes, again and again: on a GPU 50 runs of 16 M at 256 and 1 M keys and of 64 K at 1
// key.

#include "microbench/contention/arms.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

void repeat(std::string const& arm, std::uint32_t keys, std::uint32_t n, unsigned runs) {
  bool const simulated = warden::runtime::facts(0).simulated;
  // A simulated device has too few servers for a million records on chip, and for a log it brings
  // them there one by one.
  if (simulated && (!contention::has_warden_arm<contention::push>(arm, keys) ||
                    (keys > 1u << 16 && arm.starts_with("warden_deferred_"))))
    return;
  contention::runner<contention::push> runner{simulated ? 2000u : n, keys};
  auto workload = bench::workload::uniform(keys);
  for (unsigned run = 0; run < (simulated ? 3 : runs); ++run) {
    auto const result = runner.run(arm, workload, simulated ? 2000 : n, run + 1);
    ASSERT_TRUE(result.verified) << arm << ", " << keys << " keys, run " << run
                                 << ": pushes lost or doubled";
  }
}

class repeated_push : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(arms, repeated_push,
                         testing::Values("warden_paper", "warden_locks", "warden_runs",
                                         "warden_runs_on_chip", "warden_atomics",
                                         "warden_atomics_on_chip", "warden_deferred",
                                         "warden_deferred_on_chip", "warden_deferred_threads",
                                         "warden_deferred_sequential"),
                         [](auto const& arm) { return arm.param; });

TEST_P(repeated_push, at_256_keys) { repeat(GetParam(), 256, 1u << 24, 50); }
TEST_P(repeated_push, at_32768_keys) { repeat(GetParam(), 1u << 15, 1u << 24, 50); }
TEST_P(repeated_push, at_a_million_keys) { repeat(GetParam(), 1u << 20, 1u << 24, 50); }
TEST_P(repeated_push, at_one_key) { repeat(GetParam(), 1, 1u << 16, 50); }

}  // namespace
