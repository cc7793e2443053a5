// SPDX-License-Identifier: Apache-2.0
// Sections that several lanes run, under many schedules, and the simulated device's errors for
// lanes that diverge.

#include "tests/protocol/lanes_fused.cuh"
#include "tests/protocol/lanes_noops.cuh"
#include "tests/protocol/lanes_pairs.cuh"
#include "tests/support/many_schedules.cuh"

#include <gmock/gmock.h>

#include <string>

namespace {

using testing::HasSubstr;
using together::add;
using together::add_alone;
using together::deferring;
using together::row;
using warden::placement;
using warden::executor::locks;
using warden::executor::sorted;

TEST(lanes_seeds, each_section_runs_once_by_runs) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 50);
    together::defer<deferring<sorted<>>, add<8>, add<2>>(100, keys, 1);
    together::defer<deferring<sorted<>, placement::on_chip>, add<16>, add_alone>(80, keys, 1);
  });
}
TEST(lanes_seeds, each_section_runs_once_by_locks) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 50);
    together::defer<deferring<locks<16>>, add<8>, add<2>>(100, keys, 1);
    together::defer<deferring<locks<16>, placement::on_chip>, add<16>, add_alone>(80, keys, 1);
  });
}

TEST(lanes_seeds, calls_are_answered_by_the_first_lane) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 9);
    together::send_and_call_all<test::sorted>(40, keys, 1, 2);
    together::send_and_call_all<test::locks>(40, keys, 1, 2);
  });
}

TEST(lanes_seeds, each_section_on_two_records_runs_once) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 30);
    unsigned const partitions = 1u << seed % 4;
    together::defer_pairs(50, keys, partitions);
    together::defer_between(50, keys, 40 - keys, partitions);
    together::send_pairs_to_one<test::locks>(40, keys);
  });
}

/// Takes longer than the time limit.
struct stall {
  static constexpr unsigned group_size = 2;
  std::uint32_t milliseconds;
  __device__ void operator()(row&, row&, warden::lane_group<2> const&) const {
    std::uint64_t const until =
        together::simt::nanoseconds() + std::uint64_t{milliseconds} * 1'000'000;
    together::simt::wait_until([] { return false; },
                               [&] { return together::simt::nanoseconds() < until; }, [](auto) {});
  }
};
using stalling = warden::basic_guarded<together::in_rounds, row, stall, together::by_narrow>;
constexpr std::uint32_t waiting_each = 24;
WARDEN_KERNEL void send_stall(stalling::deferred_ref ref) {
  std::uint32_t const t = together::simt::thread_rank();
  if (t == 0) ref.send(0, 1, stall{3000});
  for (std::uint32_t k = 0; k < waiting_each; ++k)
    ref.send(0, 1 + (t + k) % 7, together::by_narrow::of(k));
}
TEST(lanes_seeds, a_run_in_rounds_that_was_given_up_ends_for_all_groups_of_a_block) {
  warden::guarded_options options;
  options.time_limit_seconds = 0.01;
  options.minimum_polls = 1;
  test::guarded_records<stalling> g{8, options};
  warden::deferred later{g.guarded, 1 + 32 * waiting_each, {.partitions = 1}};
  unsigned given_up = 0;
  // If the section that stalls runs last, nothing waits for it.
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    warden::sim::configure(s);
    together::simt::launch(&send_stall, 1, 32, 0, later.ref(), {});
    later.run();
    try {
      g.guarded.wait();
    } catch (warden::timeout_error const&) {
      ++given_up;
    }
  }
  warden::sim::configure({});
  EXPECT_GT(given_up, 0u) << "no run waited for the section that stalls";
}

/// Each word depends on the order of the sections.
struct append {
  static constexpr unsigned group_size = 8;
  std::uint32_t value;
  __device__ void operator()(row& r, warden::lane_group<8> const& group) const {
    for (unsigned w = group.lane(); w < row::size; w += group_size)
      r.words[w] = r.words[w] * 33 + value + w;
  }
};
using in_order = warden::with_parts<deferring<sorted<>>, warden::order::sequential>;
TEST(lanes_seeds, sections_run_in_order) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    constexpr std::uint32_t n = 200;
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 50);
    std::vector<std::uint32_t> ids(n);
    std::vector<append> sections(n);
    std::vector<row> wanted(keys, row{});
    for (std::uint32_t i = 0; i < n; ++i) {
      ids[i] = test::id_of(i + seed, keys);
      sections[i] = {i};
      for (unsigned w = 0; w < row::size; ++w)
        wanted[ids[i]].words[w] = wanted[ids[i]].words[w] * 33 + i + w;
    }
    test::guarded_records<warden::basic_guarded<in_order, row, append>> g{keys};
    warden::buffer<std::uint32_t> const to{ids};
    warden::buffer<append> const all{sections};
    g.guarded.apply_async(to.data(), all.data(), n);
    g.guarded.wait();
    auto const rows = g.records.to_host();
    for (std::uint32_t k = 0; k < keys; ++k) {
      for (unsigned w = 0; w < row::size; ++w)
        ASSERT_EQ(rows[k].words[w], wanted[k].words[w]) << "wrong order on record " << k;
    }
  });
}

TEST(lanes_seeds, sections_are_asked) {
  test::under_many_schedules(2, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 5);
    together::defer_asked<deferring<sorted<>>, 8, 2>(250, keys);
    together::defer_asked<deferring<locks<16>, placement::on_chip>, 16, 4>(250, keys);
    together::call_asked<test::sorted>(100, keys, 2);
  });
}

/// Says that it would change nothing, and counts its runs; the record is not changed, or it is.
template <bool Lies>
struct say_so {
  static constexpr unsigned group_size = 8;
  __device__ bool is_noop(row const&, std::uint32_t*) const { return true; }
  __device__ void operator()(row& r, std::uint32_t* runs,
                             warden::lane_group<8> const& group) const {
    if (group.lane() == 0) together::simt::fetch_add(runs, 1u);
    if (Lies && group.lane() == 3) r.words[3] = 1;
  }
};
template <class Policy>
using counting = warden::with_parts<Policy, warden::context<std::uint32_t*>>;
/// How many of `n` on one record are run.
template <class Policy, bool Lies>
std::uint32_t runs_of(std::uint32_t n) {
  warden::buffer<std::uint32_t> ids{n}, count{1};
  warden::buffer<row> rows{1};
  ids.fill_bytes(0), count.fill_bytes(0), rows.fill_bytes(0);
  warden::basic_guarded<counting<Policy>, row, say_so<Lies>> g{rows, count.data()};
  warden::buffer<say_so<Lies>> const sections{n};
  g.apply_async(ids.data(), sections.data(), n);
  g.wait();
  return count.to_host()[0];
}
TEST(lanes_seeds, few_noop_sections_are_run) {
  constexpr std::uint32_t n = 100;
  EXPECT_LT((runs_of<deferring<sorted<>>, false>(n)), n / 2);
  EXPECT_LT((runs_of<in_order, false>(n)), n / 2);
  EXPECT_LT((runs_of<deferring<locks<16>>, false>(n)), n / 2);
}
template <class Policy>
std::string error_of_a_lie() {
  try {
    static_cast<void>(runs_of<Policy, true>(100));
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}
TEST(lanes_seeds, sections_that_change_something_after_all_are_told) {
  auto const told = HasSubstr("a section whose is_noop returned true");
  EXPECT_THAT((error_of_a_lie<deferring<sorted<>>>()), told);
  EXPECT_THAT((error_of_a_lie<in_order>()), told);
  EXPECT_THAT((error_of_a_lie<deferring<locks<16>, placement::on_chip>>()), told);
}

TEST(lanes_seeds, sections_are_asked_in_order) {
  test::under_many_schedules(4, [](std::uint64_t seed) {
    auto const keys = static_cast<std::uint32_t>(1 + test::mix(seed) % 5);
    together::replace_in_order<in_order>(300, keys, seed);
  });
}

/// Lane 1 reads what lane 0 writes, with a sync in between or without.
template <bool Syncs>
struct hand_over {
  static constexpr unsigned group_size = 2;
  __device__ void operator()(row& r, warden::lane_group<2> const& group) const {
    if (group.lane() == 0) r.words[0] = 1;
    if constexpr (Syncs) group.sync();
    if (group.lane() == 1) r.words[1] = r.words[0] + 1;
  }
};
/// Runs it once; what lane 1 saw.
template <bool Syncs>
std::uint32_t handed_over() {
  test::guarded_records<warden::basic_guarded<deferring<sorted<>>, row, hand_over<Syncs>>> g{1};
  warden::buffer<std::uint32_t> id{1};
  id.fill_bytes(0);
  warden::buffer<hand_over<Syncs>> section{1};
  g.guarded.apply_async(id.data(), section.data(), 1);
  g.guarded.wait();
  return g.records.to_host()[0].words[1] - 1;
}
TEST(lanes_seeds, lanes_run_in_any_order_between_two_syncs) {
  std::uint32_t seen = 0, wrong = 0, seeds = 0;
  test::under_many_schedules(1, [&](std::uint64_t) {
    seen += handed_over<false>();
    wrong += handed_over<true>() != 1;
    ++seeds;
  });
  EXPECT_EQ(wrong, 0u);
  if (seeds >= 50) {
    EXPECT_GT(seen, seeds / 10) << "the first lane always came last";
    EXPECT_LT(seen, seeds - seeds / 10) << "the first lane always came first";
  }
}

/// A lane does without a collective that the others come to.
enum class parting { leaves_early, skips_one, comes_elsewhere };
template <parting How>
struct part {
  static constexpr unsigned group_size = 8;
  __device__ void operator()(row& r, warden::lane_group<8> const& group) const {
    bool const parts = group.lane() == 3;
    if (How == parting::leaves_early && parts) return;
    if (!(How == parting::skips_one && parts)) group.sync();
    if (How == parting::comes_elsewhere && parts) {
      group.sync();
    } else {
      group.sync();
    }
    r.words[group.lane()] = 1;
  }
};
template <parting How, class Executor>
std::string error_of() {
  test::guarded_records<warden::basic_guarded<deferring<Executor>, row, part<How>>> g{1};
  warden::buffer<std::uint32_t> id{1};
  id.fill_bytes(0);
  warden::buffer<part<How>> section{1};
  try {
    g.guarded.apply_async(id.data(), section.data(), 1);
    g.guarded.wait();
  } catch (warden::sim::misuse_error const& e) {
    return e.what();
  }
  return "no error";
}
TEST(lanes_seeds, lanes_that_part_are_told_where_they_are) {
  auto const told =
      testing::AllOf(HasSubstr("lanes that run a section together meet in different collectives: "
                               "all of them come to each of its group's"),
                     HasSubstr("lanes_seeds.cu:"));
  EXPECT_THAT((error_of<parting::leaves_early, sorted<>>()), told);
  EXPECT_THAT((error_of<parting::skips_one, sorted<>>()), told);
  EXPECT_THAT((error_of<parting::comes_elsewhere, sorted<>>()), told);
  EXPECT_THAT((error_of<parting::leaves_early, locks<16>>()), told);
}

}  // namespace
