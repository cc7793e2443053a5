// SPDX-License-Identifier: Apache-2.0
// Runs in rounds under many schedules: few tiles and many, uneven and empty ones, hot records.

#include "tests/protocol/rounds.cuh"
#include "tests/support/many_schedules.cuh"

#include <cstddef>
#include <cstdint>

namespace {

using rounds::bench;
using rounds::kind;
using rounds::small_blocks;

/// Operations on the first 60 of at least `least` records.
void expect_each_once(std::uint64_t seed, std::uint32_t least, unsigned least_tiles,
                      unsigned runs) {
  auto const draw = [&](std::uint64_t which, std::uint32_t below) {
    return static_cast<std::uint32_t>(test::mix(seed * 8 + which) % below);
  };
  bench<small_blocks<>> b{least + draw(0, 40),
                          kind::moves_and_deposits,
                          1 + draw(1, 60),
                          {.time_limit_seconds = 1, .minimum_polls = 64}};
  std::uint32_t const n = 1 + draw(2, 800), together = draw(3, n + 1);
  auto later = b.make(2 * n, least_tiles << draw(4, 4));
  for (unsigned run = 0; run < runs; ++run) {
    b.send_together(later, 0, together, 1 + draw(5, 3));
    b.send_alone(later, together, n);
    later.run();
  }
  b.on().wait();
  b.expect_ran(n, runs);
}
/// Twice: after a run the log is empty.
TEST(rounds_seeds, each_section_runs_once) {
  test::under_many_schedules(1, [](std::uint64_t seed) { expect_each_once(seed, 1, 1, 2); });
}
/// Where there are many tiles, few pairs have sections.
TEST(rounds_seeds, each_section_runs_once_by_one_block) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    test::let_one_block_be_resident();
    expect_each_once(seed, 20, 8, 1);
  });
}
/// With this number of tiles, two of them do not fit the chip.
TEST(rounds_seeds, each_section_runs_once_in_memory) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    test::let_blocks_have(16 << 10);
    expect_each_once(seed, 2500, 2, 1);
  });
}

/// A log of few sections.
using small_logs = warden::with_values<small_blocks<>, &warden::tuning::apply_bytes, 512>;
TEST(rounds_seeds, arrays_are_applied_a_full_log_at_a_time) {
  rounds::apply_arrays<small_logs>(1000);
}

/// A kernel in another stream sends during the run of the log, or before, or after it.
TEST(rounds_seeds, what_is_sent_while_the_log_is_run_is_refused_or_runs_later) {
  test::under_many_schedules(1, [](std::uint64_t) {
    bench<small_blocks<>> b{20, kind::moves};
    auto later = b.make(1000, 4);
    warden::stream one, other;
    b.send_together(later, 0, 200, 2, one);
    later.run(one);
    b.send_alone(later, 200, 300, other);
    later.run(one);
    one.synchronize();
    other.synchronize();
    later.run(one);
    try {
      b.on().wait(one);
    } catch (warden::limit_error const&) {
      // Some were refused, and counted.
    }
    EXPECT_EQ(b.moved() + b.refused(), 300u) << "lost or doubled section";
  });
}

}  // namespace
