// SPDX-License-Identifier: Apache-2.0
// Maximum flows and minimum cuts by all arms against Boost's.

#include "apps/graph/generate.cuh"
#include "tests/apps/flow_iterations.hpp"
#include "tests/apps/found_flow.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using graph::edge_list;
using max_flow::flow_finder;
using test::error_text_of;
using test::found_flow;
using test::network_of;

/// Any two vertices as source and sink.
edge_list uniform(std::uint64_t vertices, std::uint64_t edges, graph::weight largest,
                  std::uint64_t seed) {
  edge_list g = generate(graph::uniform{
      {.vertices = vertices, .edges = edges, .largest_weight = largest, .seed = seed}});
  g.ends = {0, static_cast<graph::vertex>(vertices - 1)};
  return g;
}

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(max_flow, arms, testing::ValuesIn(max_flow::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, find_flows_of_generated_networks) {
  EXPECT_EQ(error_text_of(generate(graph::washington{{.rows = 9, .columns = 7}}), GetParam()), "");
  EXPECT_EQ(error_text_of(generate(graph::rmf{{.a = 3, .b = 6}}), GetParam()), "");
  EXPECT_EQ(error_text_of(generate(graph::rmf{{.a = 5, .b = 2}}), GetParam()), "");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(error_text_of(uniform(60, 200, 20, seed), GetParam()), "") << "sparse, seed " << seed;
    EXPECT_EQ(error_text_of(uniform(25, 300, 3, seed), GetParam()), "") << "dense, seed " << seed;
  }
}

TEST_P(arms, take_small_networks) {
  auto const wrong = [&](std::uint64_t vertices, test::edge_literals const& edges,
                         graph::terminals ends) {
    return error_text_of(network_of(vertices, edges, ends), GetParam());
  };
  EXPECT_EQ(wrong(2, {}, {0, 1}), "") << "no edges";
  EXPECT_EQ(wrong(2, {{0, 1, 7}}, {0, 1}), "") << "one edge";
  EXPECT_EQ(wrong(2, {{0, 1, 7}}, {1, 0}), "") << "one edge, which leads back";
  EXPECT_EQ(wrong(2, {{0, 1, 7}, {0, 1, 5}, {1, 0, 3}, {0, 0, 9}, {1, 1, 9}}, {0, 1}), "")
      << "parallel edges, one back, loops at both ends";
  EXPECT_EQ(wrong(3, {{0, 1, 4}, {1, 1, 8}, {1, 0, 2}, {1, 2, 3}, {2, 1, 5}, {0, 1, 4}}, {0, 2}),
            "")
      << "the same on the way";
  EXPECT_EQ(wrong(4, {{0, 1, 5}, {2, 3, 5}}, {0, 3}), "") << "no path";
  EXPECT_EQ(wrong(5, {{0, 1, 5}, {1, 2, 5}, {2, 1, 5}, {3, 4, 5}}, {0, 4}), "")
      << "excess between two that cannot get rid of it";
  EXPECT_EQ(wrong(4, {{0, 1, 0}, {1, 3, 5}, {0, 2, 5}, {2, 3, 0}}, {0, 3}), "")
      << "capacities of 0";
  EXPECT_EQ(wrong(6, {{0, 2, 9}, {2, 3, 4}, {3, 1, 9}, {2, 4, 9}, {4, 5, 9}, {5, 2, 9}}, {0, 1}),
            "")
      << "a circle that leads nowhere";
}

/// Rows so long that a search gives them to a whole warp, and frontiers too wide for one block.
TEST_P(arms, take_vertices_of_many_arcs) {
  test::edge_literals edges{{0, 2, 5000}, {3, 1, 5000}};
  for (graph::vertex v = 4; v < 154; ++v) {
    edges.push_back({2, v, v});
    edges.push_back({v, 3, 60 + v % 50});
  }
  EXPECT_EQ(error_text_of(network_of(154, edges, {0, 1}), GetParam()), "");
}

/// 2^32 - 1 each, as large as they get: their sums need more than 32 bits.
TEST_P(arms, take_huge_capacities) {
  constexpr graph::weight most = 0xffffffff;
  test::edge_literals edges;
  for (graph::vertex v = 0; v < 20; ++v) {
    edges.push_back({20, v, most});
    edges.push_back({v, 21, most - v});
    edges.push_back({v, (v + 1) % 20, most});
  }
  EXPECT_EQ(error_text_of(network_of(22, edges, {20, 21}), GetParam()), "");
  // All of it through one vertex.
  for (graph::vertex v = 0; v < 20; ++v) edges.push_back({v, 22, most});
  edges.push_back({22, 21, most});
  edges.push_back({22, 21, 1});
  EXPECT_EQ(error_text_of(network_of(23, edges, {20, 21}), GetParam()), "");
}

/// No residual arc leads down by more than one while iterations go on, levels have as many vertices
/// as are counted, and at least as many vertices are active as have excess. Iterations go on until
/// no vertex has excess, because searches are so rare.
TEST_P(arms, keep_heights_below_distances) {
  std::vector<edge_list> networks{generate(graph::washington{{.rows = 24, .columns = 16}}),
                                  generate(graph::rmf{{.a = 4, .b = 6}})};
  // Regions with many neighbours.
  std::uint64_t const seeds = max_flow::has_regions(GetParam()) ? 30 : 1;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    networks.push_back(uniform(120 + seed, 360 + 6 * seed, 9, seed));
  for (edge_list const& g : networks) {
    found_flow f{g, GetParam(), {.iterations_a_level = 40}};
    auto const& rows = f.rows.rows();
    std::vector<std::uint32_t> heights(g.vertices), levels(g.vertices), residual(rows.arcs());
    std::uint64_t steep = 0, miscounted = 0, forgotten = 0;
    f.finder.find([&](max_flow::flow_progress const& now) {
      warden::copy(heights.data(), f.finder.heights(), heights.size());
      warden::copy(levels.data(), f.finder.levels(), levels.size());
      warden::copy(residual.data(), f.finder.residual(), residual.size());
      warden::stream_ref{}.synchronize();
      for (std::uint32_t const h : heights)
        if (h < levels.size()) --levels[h];
      miscounted += levels.size() - std::count(levels.begin(), levels.end(), 0u);
      std::vector<std::int64_t> excess(g.vertices);
      for (std::size_t a = 0; a < residual.size(); ++a) {
        std::uint32_t const from = rows.neighbours[rows.reverse[a]];
        if (f.net.is_terminal(from)) continue;
        excess[from] += std::int64_t{residual[a]} - std::int64_t{rows.weights[a]};
        if (residual[a] == 0) continue;
        steep += heights[from] > heights[rows.neighbours[a]] + std::uint64_t{1} ? 1 : 0;
      }
      std::uint64_t active = 0;
      for (std::size_t v = 0; v < excess.size(); ++v)
        active += excess[v] > 0 && heights[v] < excess.size() ? 1 : 0;
      forgotten += active > now.active ? active - now.active : 0;
    });
    EXPECT_EQ(steep, 0u);
    EXPECT_EQ(miscounted, 0u) << "levels";
    EXPECT_EQ(forgotten, 0u) << "active vertices";
    EXPECT_EQ(f.finder.facts().overlooked, 0u);
  }
}

TEST_P(arms, find_again_and_after_tuning) {
  edge_list const g = generate(graph::washington{{.rows = 6, .columns = 5}});
  found_flow f{g, GetParam()};
  std::string const chosen = f.finder.tune();
  EXPECT_EQ(chosen.empty(), GetParam() != "lock_tuned") << chosen;
  std::vector<std::uint64_t> searches;
  for (int run = 0; run < 3; ++run) {
    f.finder.find();
    EXPECT_EQ(f.own_error_text(), "");
    searches.push_back(f.finder.facts().searches);
  }
  // This arm depends on no schedule.
  if (GetParam() == "warden") {
    EXPECT_THAT(searches, testing::Each(searches.front()));
  }
  EXPECT_EQ(f.finder.facts().value, max_flow::boykov_kolmogorov(f.rows.rows(), *g.ends).value);
}

/// No arc of a row is left out, and none is always pushed along first.
template <unsigned Lanes, unsigned Each>
void expect_turns() {
  std::array<unsigned, Lanes * Each> first{};
  for (std::uint32_t v = 0; v < 64; ++v) {
    for (std::uint32_t height = 0; height < 64; ++height) {
      max_flow::arc_order<Lanes, Each> const order{v, height};
      std::uint32_t seen = 0;
      for (unsigned lane = 0; lane < Lanes; ++lane)
        for (unsigned k = 0; k < Each; ++k) seen |= 1u << order.at(lane, k);
      EXPECT_EQ(seen, (1u << Lanes * Each) - 1) << v << ' ' << height;
      ++first[order.at(0, 0)];
    }
  }
  for (unsigned const arc : {0u, 1u, 4u, 7u}) {
    EXPECT_GT(first[arc], 64u * 64 / 16);
    EXPECT_LT(first[arc], 64u * 64 / 4);
  }
}
TEST(max_flow, arcs_take_turns) {
  expect_turns<max_flow::row_lanes, 1>();
  expect_turns<2, 6>();
}

/// Flow that arrives during an iteration may go on in the same one, if it is seen then, and few
/// vertices stay active for some more iterations before a search; all else is the same.
TEST(max_flow, arms_need_about_as_many_iterations) {
  edge_list const g = generate(graph::rmf{{.a = 3, .b = 20}});
  std::vector<double> iterations;
  for (std::string const& arm : max_flow::arm_names()) {
    found_flow f{g, arm};
    f.finder.find();
    if (max_flow::has_regions(arm)) continue;  // it has several steps an iteration
    iterations.push_back(static_cast<double>(f.finder.facts().iterations));
    EXPECT_NEAR(iterations.back(), iterations.front(), 0.3 * iterations.front()) << arm;
  }
}

/// Compares searches, iterations, pushes and relabels, all of them.
TEST(max_flow, sections_make_the_iterations_of_a_loop) {
  std::vector<edge_list> networks{generate(graph::washington{{.rows = 9, .columns = 7}}),
                                  generate(graph::rmf{{.a = 3, .b = 10}}),
                                  uniform(60, 200, 20, 1),
                                  uniform(80, 240, 5, 2),
                                  uniform(40, 400, 9, 3),
                                  generate(graph::washington{{.rows = 24, .columns = 16}})};
  // With loops, by which no vertex rises.
  for (graph::vertex v = 0; v < 60; ++v) {
    networks[2].from.push_back(v);
    networks[2].to.push_back(v);
    networks[2].weights.push_back(5);
  }
  for (edge_list const& g : networks) {
    found_flow f{g, "warden", {.iterations_a_level = 0.5}};
    f.finder.find();
    bool const simulated = test::simulated();
    max_flow::search_interval interval = max_flow::interval_of_iterations;
    interval.steps_a_level = 0.5;
    test::flow_iterations loop{f.rows.rows(), *g.ends, interval, simulated ? 6u : 48u,
                               simulated ? 3u : 8u};
    auto const wanted = loop.find();
    auto const& facts = f.finder.facts();
    EXPECT_EQ(facts.value, wanted.value);
    EXPECT_EQ(facts.iterations, wanted.iterations);
    EXPECT_EQ(facts.iterations_back, wanted.iterations_back);
    EXPECT_EQ(facts.searches, wanted.searches);
    EXPECT_EQ(facts.levels, wanted.levels);
    EXPECT_EQ(facts.pushes, wanted.pushes);
    EXPECT_EQ(facts.relabels, wanted.relabels);
  }
}

/// Several regions, and several steps in an iteration.
TEST(max_flow, regions_need_fewer_iterations) {
  for (edge_list const& g : {generate(graph::washington{{.rows = 24, .columns = 16}}),
                             generate(graph::rmf{{.a = 4, .b = 16}}), uniform(300, 900, 9, 1)}) {
    EXPECT_EQ(error_text_of(g, "warden_regions"), "");
    found_flow plain{g, "warden"}, by_region{g, "warden_regions"};
    plain.finder.find();
    by_region.finder.find();
    EXPECT_LT(by_region.finder.facts().iterations, plain.finder.facts().iterations);
  }
}

/// Large enough that there are more iterations than a GPU makes between two looks of the host.
edge_list many_iterations() { return generate(graph::washington{{.rows = 32, .columns = 64}}); }

TEST(max_flow, a_bound_on_iterations_names_what_is_left) {
  edge_list const g = many_iterations();
  for (std::string const arm : {"atomics", "warden_regions"}) {
    found_flow f{g, arm, {.most_iterations = 3}};
    EXPECT_THAT(
        test::refusal([&] { f.finder.find(); }),
        testing::MatchesRegex("max_flow: [0-9]+ iterations, and still an excess of [1-9][0-9]* "
                              "at [1-9][0-9]* active vertices; the limit is 3 iterations.*"));
  }
}
/// Iterations beyond the bound are no reason to give up if no vertex has excess any more.
TEST(max_flow, a_bound_on_iterations_spares_what_is_done) {
  // A part of the flow to the first vertex has to go back.
  edge_list g = network_of(61, {{0, 1, 9}}, {0, 60});
  for (graph::vertex v = 1; v < 60; ++v) {
    g.from.push_back(v);
    g.to.push_back(v + 1);
    g.weights.push_back(5);
  }
  for (std::string const arm : {"atomics", "warden_regions"}) {
    found_flow all{g, arm};
    all.finder.find();
    auto const& facts = all.finder.facts();
    found_flow f{g, arm, {.most_iterations = facts.iterations - facts.iterations_back - 1}};
    EXPECT_EQ(test::refusal([&] { f.finder.find(); }), "") << arm;
  }
}

TEST(max_flow, tells_how_far_it_is) {
  edge_list const g = many_iterations();
  found_flow f{g, "atomics"};
  std::vector<max_flow::flow_progress> said;
  f.finder.find([&](max_flow::flow_progress const& p) { said.push_back(p); });
  ASSERT_GT(said.size(), 2u);
  EXPECT_GT(said[0].active, 0u);
  for (std::size_t i = 1; i < said.size(); ++i) {
    EXPECT_GE(said[i].flow, said[i - 1].flow);
    EXPECT_GT(said[i].iterations, said[i - 1].iterations);
    EXPECT_LE(said[i - 1].is_back, said[i].is_back);
  }
  EXPECT_EQ(said.back().flow, f.finder.facts().value);
  EXPECT_EQ(said.back().iterations, f.finder.facts().iterations);
}

TEST(max_flow, refuses_what_is_no_network) {
  auto const refusal = [](graph::terminals ends, std::string const& arm = "warden") {
    edge_list const g = network_of(3, {{0, 1, 1}}, ends);
    return test::refusal([&] { found_flow{g, arm}; });
  };
  EXPECT_THAT(refusal({1, 1}), testing::StartsWith("max_flow: source and sink are one vertex, 1"));
  EXPECT_THAT(refusal({3, 1}), testing::StartsWith("max_flow: the source is vertex 3, which is not "
                                                   "below 3, the number of vertices"));
  EXPECT_THAT(refusal({1, 7}), testing::StartsWith("max_flow: the sink is vertex 7, which is not "
                                                   "below 3, the number of vertices"));
  EXPECT_THAT(refusal({0, 1}, "magic"),
              testing::StartsWith("max_flow: no arm 'magic'; there are: lock_as_written, "));
  edge_list unweighted = network_of(2, {{0, 1, 1}}, {0, 1});
  unweighted.weights.clear();
  EXPECT_THROW(max_flow::device_network{unweighted}, std::invalid_argument);
  max_flow::network many{nullptr, nullptr, nullptr, nullptr, 2, (std::uint64_t{1} << 32) + 2, 0, 1};
  EXPECT_THAT(test::refusal([&] { flow_finder(many, "warden"); }),
              testing::StartsWith("max_flow: 4294967298 arcs; the limit is 4294967296"));
  many.arcs = 0;
  many.vertices = (1u << 31) + 1;
  EXPECT_THAT(test::refusal([&] { flow_finder(many, "warden_regions"); }),
              testing::StartsWith(
                  "max_flow: 2147483649 vertices; the limit of warden_regions is 2147483648"));
  EXPECT_EQ(max_flow::fastest_arm(many), "atomics");
  many.vertices = 100;
  many.arcs = (std::uint64_t{1} << 30) + 2;
  EXPECT_EQ(max_flow::fastest_arm(many), "atomics");
  EXPECT_THAT(
      test::refusal([&] { flow_finder(many, "warden_regions"); }),
      testing::StartsWith("max_flow: 1073741826 arcs; the limit of warden_regions is 1073741824"));
}

/// Excesses of more than 32 bits, which are more than a vertex may push at once.
TEST_P(arms, add_up_the_largest_capacities) {
  edge_list g = network_of(6, {}, {0, 5});
  auto const connect = [&](graph::vertex from, graph::vertex to, graph::weight capacity,
                           int times) {
    for (int i = 0; i < times; ++i) {
      g.from.push_back(from);
      g.to.push_back(to);
      g.weights.push_back(capacity);
    }
  };
  connect(0, 1, 0xffffffffu, 200);
  connect(0, 2, 0xfffeffffu, 100);
  for (graph::vertex const v : {1, 2}) connect(v, 3, 0xfffffff1u, 90);
  connect(3, 4, 0xffffffffu, 150);
  connect(4, 5, 0xffff0001u, 170);
  EXPECT_EQ(error_text_of(g, GetParam()), "");
}

/// A vertex that much more goes through than it may push at once does not need as many iterations.
TEST_P(arms, push_along_very_many_edges) {
  edge_list g = network_of(3, {}, {0, 2});
  for (int i = 0; i < 6000; ++i) {
    g.from.push_back(i % 2);
    g.to.push_back(i % 2 + 1);
    g.weights.push_back(0xffffffffu);
  }
  EXPECT_EQ(error_text_of(g, GetParam()), "");
}

/// Reports of the audit when one thing is broken in a right answer.
TEST(max_flow, the_audit_sees_what_is_wrong) {
  // Two ways of 3 and 2; one edge of the first, number 2, has room for more.
  edge_list const g =
      network_of(4, {{0, 1, 3}, {1, 3, 3}, {0, 2, 9}, {2, 3, 2}, {1, 2, 1}}, {0, 3});
  found_flow f{g, "atomics"};
  f.finder.find();
  ASSERT_EQ(f.own_error_text(), "");
  auto const& rows = f.rows.rows();
  std::vector<std::uint32_t> residual(rows.arcs());
  std::vector<std::uint8_t> sides(4);
  warden::copy(residual.data(), f.finder.residual(), residual.size());
  warden::copy(sides.data(), f.finder.sides(), sides.size());
  warden::stream_ref{}.synchronize();
  auto const said = [&](auto change, std::uint64_t value = 5) {
    auto r = residual;
    auto s = sides;
    change(r, s);
    warden::buffer<std::uint32_t> const device_residual{r};
    warden::buffer<std::uint8_t> const device_sides{s};
    return error_text(audit(f.net, device_residual.data(), device_sides.data()), value);
  };
  auto const arc_of = [&](std::uint32_t edge) {
    return static_cast<std::uint32_t>(std::find(rows.edges.begin(), rows.edges.end(), edge) -
                                      rows.edges.begin());
  };
  auto const push_along = [&](auto& r, std::uint32_t edge, std::uint32_t amount) {
    // The one of the two arcs that has a capacity is the edge.
    std::uint32_t const one = arc_of(edge), other = rows.reverse[one];
    bool const is = rows.weights[one] != 0;
    r[is ? one : other] -= amount;
    r[is ? other : one] += amount;
  };
  EXPECT_EQ(said([](auto&, auto&) {}), "");
  EXPECT_EQ(said([](auto&, auto&) {}, 4),
            "5 leave the source, not 4; 5 reach the sink, not 4; the cut has capacity 5, not 4");
  EXPECT_THAT(said([&](auto& r, auto&) { ++r[arc_of(0)]; }),
              testing::HasSubstr("2 arcs whose reverse arc has another flow"));
  EXPECT_EQ(said([&](auto& r, auto&) { push_along(r, 4, 1); }),
            "2 vertices that do not conserve flow");
  EXPECT_THAT(said([&](auto& r, auto&) { push_along(r, 4, ~0u); }),
              testing::HasSubstr("2 arcs with a flow below 0 or above their capacity"));
  EXPECT_EQ(said([](auto&, auto& s) { s[0] = 1; }), "the cut does not separate source and sink");
  EXPECT_EQ(said([](auto&, auto& s) { s[2] = 1; }), "the cut has capacity 13, not 5");
}

}  // namespace
