// SPDX-License-Identifier: Apache-2.0
// Maximum flows under very many schedules: pushes that come to a vertex from several blocks.

#include "apps/graph/generate.cuh"
#include "tests/apps/found_flow.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

class many_schedules : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(max_flow_seeds, many_schedules,
                         testing::Values("lock_tuned", "atomics", "warden", "warden_regions"),
                         [](auto const& arm) { return arm.param; });

/// Many sources of pushes to few vertices, so that they meet; and enough vertices that a cluster
/// has more than one region.
TEST_P(many_schedules, find_flows) {
  bool const has_borders = max_flow::has_regions(GetParam());
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    EXPECT_EQ(test::error_text_of(generate(graph::washington{{.rows = has_borders ? 14u : 4u,
                                                              .columns = has_borders ? 10u : 3u,
                                                              .largest_capacity = 9,
                                                              .seed = seed}}),
                                  GetParam()),
              "");
  });
}

/// Pushes of a run that a failed call has ended are no part of the next run.
TEST(max_flow_seeds, find_after_a_call_that_failed) {
  auto const g = generate(graph::washington{{.rows = 14, .columns = 10, .largest_capacity = 9}});
  test::found_flow f{g, "warden_regions"};
  auto const wanted = max_flow::push_relabel(f.rows.rows(), *g.ends).value;
  bool failed = true;
  for (std::uint64_t calls = 1; failed; calls += 3) {
    warden::sim::settings few_calls;
    few_calls.max_host_calls = calls;
    warden::sim::configure(few_calls);
    failed = test::error_of<warden::sim::misuse_error>([&] { f.finder.find(); }) != "";
    warden::sim::configure({});
    f.finder.find();
    EXPECT_EQ(f.own_error_text(), "") << "after " << calls << " calls";
    EXPECT_EQ(f.finder.facts().value, wanted) << "after " << calls << " calls";
  }
}

/// Long rows, each for a whole warp, several for a warp in one level: in a narrow one and in a wide
/// one. Each of them is the only way to some vertex.
TEST(max_flow_seeds, reach_through_long_rows) {
  for (graph::vertex const rows : {6u, 12u}) {
    test::edge_literals edges;
    graph::vertex const source = 0, sink = 1, first = 2 + 2 * rows, end = first + 70;
    for (graph::vertex a = 2; a < 2 + 2 * rows; a += 2) {
      edges.push_back({source, a, 3});
      edges.push_back({a, a + 1, 2});
      for (graph::vertex b = first; b < end; ++b) edges.push_back({a + 1, b, 1});
    }
    for (graph::vertex b = first; b < end; ++b) edges.push_back({b, sink, 1});
    graph::edge_list const g = test::network_of(end, edges, {source, sink});
    test::under_many_schedules(
        1, [&](std::uint64_t) { EXPECT_EQ(test::error_text_of(g, "atomics"), "") << rows; });
  }
}

/// The result of an iteration does not depend on the order of threads.
TEST(max_flow_seeds, sections_make_the_same_iterations) {
  auto const g = generate(graph::rmf{{.a = 2, .b = 4}});
  std::vector<std::uint64_t> first;
  test::under_many_schedules(1, [&](std::uint64_t) {
    test::found_flow f{g, "warden"};
    f.finder.find();
    auto const& facts = f.finder.facts();
    std::vector<std::uint64_t> const these{facts.iterations, facts.iterations_back, facts.searches,
                                           facts.pushes,     facts.relabels,        facts.value};
    if (first.empty()) first = these;
    EXPECT_EQ(these, first);
  });
}

}  // namespace
