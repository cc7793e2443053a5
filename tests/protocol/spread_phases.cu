// SPDX-License-Identifier: Apache-2.0
// Phases of a run on several ranks, as a timeline records them.

#include "tests/protocol/spread.cuh"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using bench = spreading::rank_bench<deferring::small_blocks<>>;

/// Names of the phases that the last run had.
template <class Log>
std::string phases_of(Log const& log) {
  auto const ends = log.phase_ends();
  std::string found;
  for (std::size_t p = 0; p < ends.size(); ++p) {
    if (ends[p]) found += std::string{" "} + to_string(static_cast<warden::run_phase>(p));
  }
  return found;
}
TEST(spread_phases, phases_of_a_run_are_recorded) {
  constexpr std::uint32_t n = 100;
  spreading::on_ranks(spreading::ranks(2), [](warden::communicator const& world) {
    bench b{world, 30};
    warden::deferred later{b.on(), n};
    later.record_phases();
    for (int k = 0; k < 2; ++k) {
      later.run();
      EXPECT_EQ(phases_of(later), " count sort gather") << "nothing runs";
      b.send_alone(later, 0, n);
      later.run();
      EXPECT_EQ(phases_of(later), " count sort gather pack exchange home arrive join remote");
      // To rank 0.
      b.send_alone(later, 0, n, 1);
      later.run();
      EXPECT_EQ(phases_of(later), world.rank() == 0
                                      ? " count sort gather pack exchange home arrive join remote"
                                      : " count sort gather pack exchange arrive");
    }
    b.on().wait();
  });
}

TEST(spread_phases, explain_tells_what_this_rank_sent) {
  constexpr std::uint32_t n = 100;
  spreading::on_ranks(spreading::ranks(2), [n](warden::communicator const& world) {
    bench b{world, 30};
    warden::deferred later{b.on(), n};
    b.send_alone(later, 0, n);
    later.run();
    b.on().wait();
    warden::run_report const r = later.explain();
    EXPECT_EQ(r.sections, n);
    EXPECT_EQ(r.room, n);
    EXPECT_EQ(r.partitions, 0u);
  });
}

TEST(spread_phases, phases_of_a_run_on_one_rank_are_recorded) {
  constexpr std::uint32_t n = 100;
  bench b{warden::communicator::alone(), 30};
  warden::deferred later{b.on(), n};
  later.record_phases();
  later.run();
  EXPECT_EQ(phases_of(later), " sort home");
}

}  // namespace
