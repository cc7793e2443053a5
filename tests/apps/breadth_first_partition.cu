// SPDX-License-Identifier: Apache-2.0
// Parts of a graph: the owner of each vertex, and the rows of each rank.

#include "apps/breadth_first/partition.hpp"
#include "tests/apps/searched.hpp"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace {

using breadth_first::partition;
using testing::ElementsAre;

/// 3 has 4 arcs, 0 and 1 have 2, 2 and 5 have 1; 4 has none.
graph::csr small() {
  return build_csr(test::edges_of(6, {{0, 3}, {1, 3}, {2, 3}, {5, 3}, {0, 1}}),
                   {graph::arcs_of::undirected});
}

TEST(breadth_first_partition, deals_out_by_degree) {
  graph::csr const rows = small();
  partition const p = breadth_first::deal_by_degree(rows, rows, 2);
  EXPECT_EQ(p.words, 1u);
  EXPECT_THAT(p.owned, ElementsAre(3u, 2u));
  EXPECT_THAT(p.numbers, ElementsAre(32u, 1u, 33u, 0u, graph::no_vertex, 2u));
  EXPECT_FALSE(p.has(4));
  EXPECT_EQ(p.owner_of(2), 1u);
  EXPECT_EQ(p.vertices[33], 2u);
  EXPECT_EQ(p.vertices[3], graph::no_vertex);
}
TEST(breadth_first_partition, rows_name_neighbours_by_number_from_the_highest_degree_on) {
  graph::csr const rows = small();
  partition const p = breadth_first::deal_by_degree(rows, rows, 2);
  graph::csr const first = breadth_first::owned_rows(rows, p, 0),
                   other = breadth_first::owned_rows(rows, p, 1);
  EXPECT_EQ(first.vertices(), 32u);
  EXPECT_THAT(first.neighbours, ElementsAre(32u, 1u, 33u, 2u, 0u, 32u, 0u));
  EXPECT_THAT(other.neighbours, ElementsAre(0u, 1u, 0u));
  EXPECT_THAT(arcs_of_words(rows, p), ElementsAre(7u, 3u));
}
/// Each arc is in the row of the vertex it leaves, whatever its direction.
TEST(breadth_first_partition, rows_of_directed_graphs) {
  graph::edge_list g = generate(graph::rmat{{.scale = 7, .edge_factor = 3}});
  g.directed = true;
  graph::csr const out = build_csr(g, {graph::arcs_of::directed});
  std::swap(g.from, g.to);
  graph::csr const in = build_csr(g, {graph::arcs_of::directed});
  partition const p = breadth_first::deal_by_degree(out, in, 3);
  auto const degree = [&](graph::vertex v) {
    return out.offsets[v + 1] - out.offsets[v] + in.offsets[v + 1] - in.offsets[v];
  };
  for (std::uint32_t r = 0; r < 3; ++r) {
    graph::csr const mine = breadth_first::owned_rows(out, p, r);
    for (std::uint32_t place = 0; place < p.owned[r]; ++place) {
      graph::vertex const v = p.vertices[r * p.places() + place];
      std::vector<graph::vertex> found, wanted;
      for (std::uint64_t arc = mine.offsets[place]; arc < mine.offsets[place + 1]; ++arc)
        found.push_back(p.vertices[mine.neighbours[arc]]);
      for (std::uint64_t arc = out.offsets[v]; arc < out.offsets[v + 1]; ++arc)
        wanted.push_back(out.neighbours[arc]);
      EXPECT_THAT(found, testing::UnorderedElementsAreArray(wanted)) << "vertex " << v;
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                                 [&](auto a, auto b) { return degree(a) > degree(b); }))
          << "vertex " << v;
    }
  }
}
TEST(breadth_first_partition, ranks_own_about_equally_much) {
  graph::csr const rows = build_csr(generate(graph::rmat{{.scale = 10, .edge_factor = 8}}),
                                    {graph::arcs_of::undirected});
  partition const p = breadth_first::deal_by_degree(rows, rows, 4);
  auto const [fewest, most] = std::minmax_element(p.owned.begin(), p.owned.end());
  EXPECT_LE(*most - *fewest, 1u);
  for (std::uint32_t r = 0; r < 4; ++r)
    EXPECT_NEAR(static_cast<double>(breadth_first::owned_rows(rows, p, r).arcs()),
                rows.arcs() / 4.0, 0.05 * static_cast<double>(rows.arcs()));
}
TEST(breadth_first_partition, places_above_count_from_the_highest_degree_on) {
  // Vertex v has 10 - v arcs to leaves.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 0; v < 10; ++v) {
    for (std::uint32_t k = v; k < 10; ++k)
      arcs.emplace_back(v, 10 + static_cast<std::uint32_t>(arcs.size()));
  }
  graph::csr const rows = build_csr(test::edges_of(65, arcs), {graph::arcs_of::undirected});
  partition const p = breadth_first::deal_by_degree(rows, rows, 3);
  EXPECT_EQ(places_above(rows, p, 0), 22u) << "all places of the rank that owns most";
  EXPECT_EQ(places_above(rows, p, 1), 3u);
  EXPECT_EQ(places_above(rows, p, 5), 2u);
  EXPECT_EQ(places_above(rows, p, 9), 1u);
  EXPECT_EQ(places_above(rows, p, 10), 0u);
}
/// One rank that owns all makes room for as many on each.
TEST(breadth_first_partition, refuses_more_numbers_than_32_bits) {
  graph::csr const rows = build_csr(test::path(70), {graph::arcs_of::undirected});
  std::vector<std::uint32_t> const owners(70, 0);
  EXPECT_THAT(test::refusal([&] { breadth_first::give_to(owners, rows, rows, 50'000'000); }),
              testing::StartsWith("breadth_first: 50000000 ranks of up to 70 vertices take "
                                  "4800000000 numbers; the limit is 4294967295; make the parts "
                                  "more equal"));
}

}  // namespace
