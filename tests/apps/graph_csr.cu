// SPDX-License-Identifier: Apache-2.0
// Rows of arcs from lists of edges, summaries, and lists written to files.

#include "apps/graph/csr.hpp"
#include "apps/graph/generate.cuh"
#include "apps/graph/summary.hpp"
#include "apps/graph/undirected.hpp"
#include "apps/graph/writers.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using graph::arcs_of;
using graph::csr;
using graph::edge_list;
using test::edges;
using numbers = std::vector<std::uint32_t>;

/// A self-loop, parallel edges and a vertex without any.
edge_list five() { return edges(4, true, {2, 0, 3, 0, 0}, {0, 2, 3, 2, 3}, {10, 11, 12, 13, 14}); }

TEST(graph_csr, of_arcs) {
  csr wanted;
  wanted.offsets = {0, 3, 3, 4, 5};
  wanted.neighbours = {2, 2, 3, 0, 3};
  wanted.weights = {11, 13, 14, 10, 12};
  EXPECT_EQ(build_csr(five(), {.arcs = arcs_of::directed}), wanted);
  wanted.edges = {1, 3, 4, 0, 2};
  EXPECT_EQ(build_csr(five(), {.arcs = arcs_of::directed, .edges = true}), wanted);
}

TEST(graph_csr, of_edges) {
  csr wanted;
  wanted.offsets = {0, 4, 4, 7, 10};
  wanted.neighbours = {2, 2, 2, 3, 0, 0, 0, 3, 3, 0};
  wanted.weights = {10, 11, 13, 14, 10, 11, 13, 12, 12, 14};
  wanted.edges = {0, 1, 3, 4, 0, 1, 3, 2, 2, 4};
  wanted.reverse = {4, 5, 6, 9, 0, 1, 2, 8, 7, 3};
  EXPECT_EQ(build_csr(five(), {arcs_of::undirected, true, true}), wanted);
  wanted.weights = {0, 11, 13, 14, 10, 0, 0, 12, 0, 0};
  EXPECT_EQ(build_csr(five(), {arcs_of::flow, true, true}), wanted);
  wanted.weights.clear();
  wanted.edges.clear();
  wanted.reverse.clear();
  auto list = five();
  list.weights.clear();
  EXPECT_EQ(build_csr(list, {arcs_of::undirected, false, false}), wanted);
}

TEST(graph_csr, of_small_graphs) {
  for (std::uint64_t const n : {0, 1, 3}) {
    csr const c = build_csr(edges(n, true, {}, {}), {arcs_of::flow, true, true});
    EXPECT_EQ(c.offsets, std::vector<std::uint64_t>(n + 1));
    EXPECT_EQ(c.vertices(), n);
    EXPECT_EQ(c.arcs(), 0u);
  }
  EXPECT_EQ(build_csr(edges(1, true, {0}, {0}), {arcs_of::flow, false, true}).reverse,
            (numbers{1, 0}));
}

TEST(graph_csr, refuses_options) {
  EXPECT_THROW(build_csr(five(), {arcs_of::directed, false, true}), std::invalid_argument);
  graph::check_options({arcs_of::flow, true, true}, std::uint64_t{1} << 32);
  EXPECT_THROW(graph::check_options({arcs_of::flow, true, false}, (std::uint64_t{1} << 32) + 1),
               std::invalid_argument);
  graph::check_options({arcs_of::flow, false, false}, std::uint64_t{1} << 40);
}

TEST(graph_summary, counts) {
  auto s = graph::summarize(five());
  EXPECT_EQ(s.self_loops, 1u);
  EXPECT_EQ(s.parallel, 1u);  // 0 to 2
  EXPECT_EQ(s.opposite, 3u);  // between 0 and 2
  EXPECT_EQ(s.isolated, 1u);
  EXPECT_EQ(s.largest_degree, 4u);
  EXPECT_EQ(s.least_weight, 10u);
  EXPECT_EQ(s.largest_weight, 14u);
  auto undirected = five();
  undirected.directed = false;
  s = graph::summarize(undirected);
  EXPECT_EQ(s.parallel, 2u);
  EXPECT_EQ(s.opposite, 0u);
  s = graph::summarize(edges(0, true, {}, {}));
  EXPECT_EQ(s.isolated + s.largest_degree + s.parallel, 0u);
}

TEST(graph_undirected, halves_what_is_listed_both_ways) {
  // Two parallel edges of 0 and 1, and a self-loop.
  auto g = edges(3, true, {0, 1, 2, 1, 0, 2, 1}, {1, 0, 2, 0, 1, 1, 2}, {5, 6, 9, 5, 6, 7, 7});
  EXPECT_TRUE(make_undirected(g));
  EXPECT_EQ(g, edges(3, false, {0, 2, 0, 1}, {1, 2, 1, 2}, {5, 9, 6, 7}));
  EXPECT_FALSE(make_undirected(g)) << "it is one already";
  EXPECT_EQ(g.edges(), 4u);
  auto plain = edges(2, true, {0, 1}, {1, 0});
  EXPECT_TRUE(make_undirected(plain));
  EXPECT_EQ(plain, edges(2, false, {0}, {1}));
}

TEST(graph_undirected, keeps_all_arcs_where_one_has_none_back) {
  for (auto const& [from, to, weights] :
       {std::tuple{numbers{0, 1, 2}, numbers{1, 0, 1}, numbers{}},  // none
        {numbers{0, 1}, numbers{1, 0}, numbers{5, 6}},              // another weight
        {numbers{0, 0, 1}, numbers{1, 1, 0}, numbers{5, 5, 5}},     // too few
        {numbers{0, 1, 0, 1}, numbers{1, 0, 1, 0}, numbers{5, 5, 5, 6}},
        {numbers{0, 2}, numbers{1, 0}, numbers{5, 5}}}) {
    auto g = edges(3, true, from, to, weights);
    EXPECT_FALSE(make_undirected(g));
    EXPECT_EQ(g, edges(3, false, from, to, weights));
  }
  auto loops = edges(2, true, {1}, {1});
  EXPECT_FALSE(make_undirected(loops));
  EXPECT_EQ(loops, edges(2, false, {1}, {1}));
}

class graph_writers : public test::graph_folder {};

/// Two arcs for each edge, one for a self-loop.
edge_list both_ways(edge_list const& g) {
  if (g.directed) return g;
  edge_list arcs = edges(g.vertices, true, {}, {});
  auto const add = [&](graph::vertex from, graph::vertex to, graph::weight w) {
    arcs.from.push_back(from);
    arcs.to.push_back(to);
    arcs.weights.push_back(w);
  };
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    add(g.from[e], g.to[e], g.weights[e]);
    if (g.from[e] != g.to[e]) add(g.to[e], g.from[e], g.weights[e]);
  }
  return arcs;
}

/// Each edge from its smaller vertex.
edge_list smaller_first(edge_list g) {
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    if (g.from[e] > g.to[e]) std::swap(g.from[e], g.to[e]);
  }
  return g;
}

TEST_F(graph_writers, are_read_back) {
  std::vector<graph::generator> const some{graph::uniform{{.vertices = 30, .edges = 100}},
                                           graph::rmf{{.a = 3, .b = 2}}};
  for (auto const& g : some) {
    edge_list list = generate(g);
    for (std::string const name : {"x.gr", "x.max", "x.mtx", "x.txt"}) {
      SCOPED_TRACE(name);
      edge_list wanted = test::from_one(name == "x.gr" ? both_ways(list) : list);
      if (name == "x.txt") wanted.first_name = 0;
      if (name != "x.max") wanted.ends.reset();
      if (name == "x.max" && !list.ends) {
        EXPECT_EQ(error_from([&] { write_graph(path(name), list, ""); }, path(name)),
                  ": cannot be written: the graph has no source and sink");
        continue;
      }
      write_graph(path(name), list, "a comment");
      edge_list found = graph::read_graph(path(name));
      if (name == "x.mtx" && !list.directed) {  // stored below the diagonal
        for (std::uint64_t e = 0; e < wanted.edges(); ++e) {
          if (wanted.from[e] < wanted.to[e]) std::swap(wanted.from[e], wanted.to[e]);
        }
      }
      EXPECT_EQ(found, wanted);
      if (name != "x.gr" || list.directed) continue;
      make_undirected(found);
      EXPECT_EQ(found, test::from_one(smaller_first(list)));
    }
  }
}

TEST_F(graph_writers, write_an_undirected_network_both_ways) {
  edge_list list = edges(3, false, {0, 2, 1}, {1, 1, 1}, {5, 6, 7});
  list.ends = {2, graph::no_vertex};
  write_graph(path("x.max"), list, "a comment");
  EXPECT_EQ(content(path("x.max")),
            "c a comment\np max 3 5\nn 3 s\na 1 2 5\na 2 1 5\na 3 2 6\na 2 3 6\na 2 2 7\n");
}

TEST_F(graph_writers, tell_which_vertices_are_lost) {
  edge_list const list = edges(5, true, {0, 3}, {1, 3}, {1, 1});
  EXPECT_EQ(write_graph(path("x.txt"), list, ""),
            path("x.txt") +
                ": 2 of 5 vertices are lost, as they have no edges and the file lists edges only; "
                "write .gr or .mtx");
  for (std::string const name : {"x.gr", "x.mtx"}) EXPECT_EQ(write_graph(path(name), list, ""), "");
  EXPECT_EQ(write_graph(path("x.txt"), edges(2, true, {0}, {1}), ""), "");
}

TEST_F(graph_writers, comments_decide_nothing) {
  edge_list const list = edges(2, true, {1}, {0}, {4});
  for (std::string const comment :
       {"Undirected graph", "my undirected graph.gr", "x\n# Undirected graph\ry"}) {
    for (std::string const name : {"x.txt", "x.mtx", "x.gr"}) {
      write_graph(path(name), list, comment);
      edge_list found = graph::read_graph(path(name));
      found.first_name = 0;
      EXPECT_EQ(found, list) << name << " from " << comment;
    }
  }
}

TEST_F(graph_writers, write_names_and_no_weights) {
  edge_list list = edges(2, false, {1}, {0});
  list.names = {7, 4294967294};
  write_graph(path("x"), list, "a comment", graph::file_format::snap);
  EXPECT_EQ(content(path("x")), "# Undirected graph\n# from a comment\n4294967294\t7\n");
  write_graph(path("x.mtx"), list, "a comment");
  EXPECT_EQ(content(path("x.mtx")),
            "%%MatrixMarket matrix coordinate pattern symmetric\n% a comment\n2 2 1\n2 1\n");
  EXPECT_EQ(error_from([&] { write_graph(path("x.gr"), list, ""); }, path("x.gr")),
            ": cannot be written: the graph has no weights");
  EXPECT_FALSE(std::filesystem::exists(path("x.gr")));
  std::string const nowhere = path("nowhere/x.txt");
  EXPECT_EQ(error_from([&] { write_graph(nowhere, list, ""); }, nowhere),
            ": cannot be written: No such file or directory");
}

}  // namespace
