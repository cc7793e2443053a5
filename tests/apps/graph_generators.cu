// SPDX-License-Identifier: Apache-2.0
// Generated graphs: the same on both sides, of the shape that their names promise.

#include "apps/graph/checksum.hpp"
#include "apps/graph/csr.hpp"
#include "apps/graph/generate.cuh"
#include "apps/graph/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using graph::edge_list;
using graph::generate;
using graph::vertex;

/// Small graphs of odd sizes, one of each kind.
std::vector<graph::generator> small_ones() {
  return {graph::rmat{{.scale = 7, .edge_factor = 5, .seed = 3}},
          graph::rmat{{.scale = 0}},
          graph::uniform{{.vertices = 77, .edges = 1001, .largest_weight = 4294967295}},
          graph::uniform{{.vertices = 4294967295, .edges = 99}},
          graph::road_grid{{.rows = 13, .columns = 29}},
          graph::road_grid{{.rows = 1, .columns = 1}},
          graph::washington{{.rows = 7, .columns = 5}},
          graph::rmf{{.a = 3, .b = 5, .c1 = 10, .c2 = 20}},
          graph::rmf{{.a = 1, .b = 4}},
          graph::image_grid{{.rows = 9, .columns = 17, .patch = 4}},
          graph::image_grid{{.rows = 1, .columns = 1}}};
}

TEST(generators, make_the_same_on_both_sides) {
  for (auto const& g : small_ones()) {
    auto const on_host = generate(g);
    EXPECT_EQ(to_host(generate_on_device(g)), on_host) << g.index();
    EXPECT_EQ(to_host(graph::to_device(on_host)), on_host) << g.index();
    for (std::uint64_t e = 0; e < on_host.edges(); ++e) {
      ASSERT_LT(on_host.from[e], on_host.vertices);
      ASSERT_LT(on_host.to[e], on_host.vertices);
    }
  }
}

// Published and stored results depend on exactly these graphs.
TEST(generators, make_what_they_always_made) {
  std::vector<std::uint64_t> sums;
  for (auto const& g : small_ones()) {
    auto const list = generate(g);
    std::uint64_t sum = 0;
    for (auto const* array : {&list.from, &list.to, &list.weights})
      sum = graph::checksum(array->data(), array->size() * sizeof(vertex), sum);
    sums.push_back(sum);
  }
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{
                      4183682226447859733, 2679433080408065501, 14266030525467612253u,
                      12992230039786419219u, 15365777826365709961u, 13717697075763884530u,
                      9218543217382667772u, 5167937456668642401, 436222966522141649,
                      12048127272772651625u, 9360714731539517297u}));
}

TEST(generators, make_others_from_other_seeds) {
  auto const differ = [](auto options, auto make) {
    auto const first = generate(make(options));
    options.seed = 2;
    EXPECT_NE(generate(make(options)), first);
  };
  differ(graph::rmat_options{.scale = 5}, [](auto o) { return graph::rmat{o}; });
  differ(graph::uniform_options{.edges = 100}, [](auto o) { return graph::uniform{o}; });
  differ(graph::road_grid_options{.rows = 9, .columns = 9},
         [](auto o) { return graph::road_grid{o}; });
  differ(graph::washington_options{.rows = 9, .columns = 9},
         [](auto o) { return graph::washington{o}; });
  differ(graph::rmf_options{.a = 3, .b = 3}, [](auto o) { return graph::rmf{o}; });
  differ(graph::image_grid_options{}, [](auto o) { return graph::image_grid{o}; });
}

TEST(generators, refuse_parameters) {
  auto const error_of = [](auto f) -> std::string {
    try {
      f();
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "no error";
  };
  auto const rmat = [&](graph::rmat_options const& o) { return error_of([&] { graph::rmat{o}; }); };
  EXPECT_EQ(rmat({.scale = 32}), "the scale 32 is not from 0 to 31");
  EXPECT_EQ(rmat({.edge_factor = 0}), "the edge factor 0 is not from 1 to 16777216");
  EXPECT_EQ(rmat({.largest_weight = 0}), "the largest weight 0 is not from 1 to 4294967295");
  EXPECT_EQ(rmat({.a = 0.8}),
            "a, b and c are 0.800000, 0.190000 and 0.190000; none is negative, and they add up to "
            "1 at most");
  auto const uniform = [&](graph::uniform_options const& o) {
    return error_of([&] { graph::uniform{o}; });
  };
  EXPECT_EQ(uniform({.vertices = 0}), "the number of vertices 0 is not from 1 to 4294967295");
  EXPECT_EQ(uniform({.edges = 1ull << 41}),
            "the number of edges 2199023255552 is not from 0 to 1099511627776");
  auto const road = [&](graph::road_grid_options const& o) {
    return error_of([&] { graph::road_grid{o}; });
  };
  EXPECT_EQ(road({.rows = 0}), "the number of rows 0 is not from 1 to 4294967295");
  EXPECT_EQ(road({.rows = 65536, .columns = 65536}),
            "65536 x 65536 vertices; the limit is 4294967295");
  EXPECT_EQ(road({.rows = ~0ull, .columns = 3}),
            "the number of rows 18446744073709551615 is not from 1 to 4294967295");
  EXPECT_EQ(road({.arcs_a_vertex = 4.5}), "4.500000 arcs a vertex are not from 0 to 4");
  auto const washington = [&](graph::washington_options const& o) {
    return error_of([&] { graph::washington{o}; });
  };
  EXPECT_EQ(washington({.rows = 2}), "the number of rows 2 is not from 3 to 4294967295");
  EXPECT_EQ(washington({.largest_capacity = 1431655766}),
            "the largest capacity 1431655766 is not from 1 to 1431655765");
  EXPECT_EQ(washington({.rows = 858993459, .columns = 5}),
            "858993459 x 5 vertices; the limit is 4294967295")
      << "source and sink count";
  auto const rmf = [&](graph::rmf_options const& o) { return error_of([&] { graph::rmf{o}; }); };
  EXPECT_EQ(rmf({.a = 1, .b = 1}), "the number of vertices 1 is not from 2 to 4294967295");
  EXPECT_EQ(rmf({.c1 = 5, .c2 = 4}), "c1 5 is not from 1 to 4");
  EXPECT_EQ(rmf({.a = 1000, .c2 = 4295}), "c2 4295 is not from 1 to 4294");
  auto const image = [&](graph::image_grid_options const& o) {
    return error_of([&] { graph::image_grid{o}; });
  };
  EXPECT_EQ(image({.columns = 0}), "the number of columns 0 is not from 1 to 4294967295");
  EXPECT_EQ(image({.patch = 0}), "the patch 0 is not from 1 to 4096");
}

TEST(generators, random_orders_hit_everything_once) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    graph::random_order const order{n, n};
    std::vector<bool> hit(n);
    for (std::uint64_t x = 0; x < n; ++x) {
      ASSERT_LT(order(x), n);
      ASSERT_FALSE(hit[order(x)]) << x << " of " << n;
      hit[order(x)] = true;
    }
  }
  // In random order: few stay where they are, or next to their neighbour.
  graph::random_order const order{1000, 1};
  int same = 0, adjacent = 0;
  for (std::uint64_t x = 0; x < 999; ++x) {
    same += order(x) == x ? 1 : 0;
    adjacent += order(x) + 1 == order(x + 1) ? 1 : 0;
  }
  EXPECT_LE(same, 8);
  EXPECT_LE(adjacent, 8);
}

TEST(generators, rmat_chooses_quarters) {
  graph::rmat_options o{.scale = 10, .edge_factor = 64, .scramble = false};
  auto const list = generate(graph::rmat{o});
  double const n = static_cast<double>(list.edges());
  // The first level and the last one.
  for (unsigned const bit : {9u, 0u}) {
    std::vector<double> found(4);
    for (std::uint64_t e = 0; e < list.edges(); ++e)
      ++found[2 * (list.from[e] >> bit & 1) + (list.to[e] >> bit & 1)];
    double const chances[] = {0.57, 0.19, 0.19, 0.05};
    for (int q = 0; q < 4; ++q)
      EXPECT_NEAR(found[q] / n, chances[q], 5 * std::sqrt(0.25 / n)) << bit << ": " << q;
  }
  // Renumbered at random it is the same graph.
  o.scramble = true;
  auto const scrambled = generate(graph::rmat{o});
  auto degrees = [](edge_list const& g) {
    std::vector<unsigned> d(g.vertices);
    for (vertex const v : g.from) d[v] += 1000;
    for (vertex const v : g.to) ++d[v];
    std::sort(d.begin(), d.end());
    return d;
  };
  EXPECT_NE(scrambled.from, list.from);
  EXPECT_EQ(degrees(scrambled), degrees(list));
  EXPECT_EQ(scrambled.weights, list.weights);
  auto const one = generate(graph::rmat{{.scale = 5, .a = 1, .b = 0, .c = 0, .scramble = false}});
  EXPECT_EQ(one.from, std::vector<vertex>(512, 0));
}

TEST(generators, uniform_graphs_use_all_vertices_and_weights) {
  auto const list =
      generate(graph::uniform{{.vertices = 100, .edges = 100'000, .largest_weight = 3}});
  std::vector<int> ends(100), weights(4);
  for (std::uint64_t e = 0; e < list.edges(); ++e) {
    ++ends[list.from[e]];
    ++ends[list.to[e]];
    ++weights[list.weights[e]];
  }
  for (int const n : ends) EXPECT_NEAR(n, 2000, 250);
  EXPECT_EQ(weights[0], 0);
  for (int w = 1; w <= 3; ++w) EXPECT_NEAR(weights[w], 33'333, 900);
}

/// True if the edges connect all vertices.
bool is_connected(edge_list const& g) {
  std::vector<vertex> root(g.vertices);
  std::iota(root.begin(), root.end(), vertex{0});
  auto const find = [&](vertex v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  std::uint64_t parts = g.vertices;
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    vertex const a = find(g.from[e]), b = find(g.to[e]);
    parts -= a != b ? 1 : 0;
    root[a] = b;
  }
  return parts == 1;
}

TEST(generators, road_grids_are_like_roads) {
  for (auto const& [rows, columns, arcs, wanted] : {std::tuple{40u, 50u, 2.5, 2500u},
                                                    {1u, 9u, 2.5, 8u},
                                                    {9u, 1u, 2.5, 8u},
                                                    {40u, 50u, 0.0, 1999u},
                                                    {40u, 50u, 4.0, 3910u}}) {
    auto const list =
        generate(graph::road_grid{{.rows = rows, .columns = columns, .arcs_a_vertex = arcs}});
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    EXPECT_EQ(list.edges(), wanted);
    EXPECT_TRUE(is_connected(list));
    EXPECT_FALSE(list.directed);
    auto const s = graph::summarize(list);
    EXPECT_EQ(s.parallel + s.self_loops + s.isolated, 0u);
    EXPECT_GE(s.least_weight, 100u);
    EXPECT_LT(s.largest_weight, 6400u);
    for (std::uint64_t e = 0; e < list.edges(); ++e) {
      vertex const apart = list.from[e] - list.to[e];
      ASSERT_TRUE(apart == columns || (apart == 1 && list.from[e] % columns != 0)) << e;
    }
  }
}

TEST(generators, washington_goes_from_column_to_column) {
  std::uint64_t const rows = 6, columns = 50;
  auto const list =
      generate(graph::washington{{.rows = rows, .columns = columns, .largest_capacity = 100}});
  EXPECT_EQ(list.vertices, rows * columns + 2);
  EXPECT_EQ(list.edges(), 2 * rows + 3 * rows * (columns - 1));
  vertex const sink = static_cast<vertex>(list.vertices - 1);
  EXPECT_EQ(list.ends, (graph::terminals{0, sink}));
  std::set<std::pair<vertex, vertex>> seen;
  std::vector<unsigned> out(list.vertices), targets(rows);
  for (std::uint64_t e = 0; e < list.edges(); ++e) {
    vertex const from = list.from[e], to = list.to[e];
    EXPECT_TRUE(seen.emplace(from, to).second) << "twice: " << from << " to " << to;
    ++out[from];
    if (from == 0 || to == sink) {
      EXPECT_EQ(list.weights[e], 300u);
      EXPECT_TRUE(from != 0 || to <= rows);
      EXPECT_TRUE(to != sink || from > sink - 1 - rows);
    } else {
      EXPECT_EQ((to - 1) / rows, (from - 1) / rows + 1);
      EXPECT_GE(list.weights[e], 1u);
      EXPECT_LE(list.weights[e], 100u);
      ++targets[(to - 1) % rows];
    }
  }
  EXPECT_EQ(out[0], rows);
  for (vertex v = 1; v < sink; ++v) EXPECT_EQ(out[v], v + rows < sink ? 3u : 1u) << v;
  for (unsigned const n : targets) EXPECT_NEAR(n, 3.0 * (columns - 1), 50) << "any row";
}

TEST(generators, rmf_has_frames) {
  vertex const a = 4, b = 6, size = a * a;
  auto const list = generate(graph::rmf{{.a = a, .b = b, .c1 = 5, .c2 = 9}});
  EXPECT_EQ(list.vertices, size * b);
  EXPECT_EQ(list.edges(), 5 * size * b - 4 * a * b - size);
  EXPECT_EQ(list.ends, (graph::terminals{0, size * b - 1}));
  std::set<std::pair<vertex, vertex>> seen;
  std::vector<unsigned> in(list.vertices);
  std::set<std::vector<vertex>> orders;
  std::vector<vertex> order(size);
  for (std::uint64_t e = 0; e < list.edges(); ++e) {
    vertex const from = list.from[e], to = list.to[e];
    EXPECT_TRUE(seen.emplace(from, to).second) << "twice: " << from << " to " << to;
    if (from / size == to / size) {
      EXPECT_EQ(list.weights[e], 9 * size);
      unsigned const apart = from < to ? to - from : from - to;
      EXPECT_TRUE(apart == a || (apart == 1 && from / a == to / a)) << from << " to " << to;
    } else {
      EXPECT_EQ(to / size, from / size + 1);
      EXPECT_GE(list.weights[e], 5u);
      EXPECT_LE(list.weights[e], 9u);
      ++in[to];
      order[from % size] = to % size;
      if (from % size == size - 1) orders.insert(order);
    }
  }
  for (vertex v = 0; v < list.vertices; ++v) EXPECT_EQ(in[v], v < size ? 0u : 1u);
  EXPECT_EQ(orders.size(), b - 1) << "every frame in an order of its own";
}

TEST(generators, images_have_edges_to_cut_along) {
  vertex const rows = 40, columns = 60, sink = rows * columns + 1;
  auto const list = generate(graph::image_grid{{.rows = rows, .columns = columns, .patch = 12}});
  EXPECT_EQ(list.edges(), rows * columns + 2 * rows * (columns - 1) + 2 * (rows - 1) * columns);
  EXPECT_EQ(list.ends, (graph::terminals{0, sink}));
  std::set<std::pair<vertex, vertex>> seen;
  std::vector<int> light(sink);
  std::vector<unsigned> capacities(65);
  std::uint64_t dark = 0;
  for (std::uint64_t e = 0; e < list.edges(); ++e) {
    vertex const from = list.from[e], to = list.to[e];
    EXPECT_TRUE(seen.emplace(from, to).second) << "twice: " << from << " to " << to;
    int const w = static_cast<int>(list.weights[e]);
    if (from == 0) {
      EXPECT_TRUE(w >= 1 && w <= 128);
      light[to] = -w;
      ++dark;
    } else if (to == sink) {
      EXPECT_TRUE(w >= 1 && w <= 128);
      light[from] = w - 1;
    } else {
      unsigned const apart = from < to ? to - from : from - to;
      EXPECT_TRUE(apart == columns || (apart == 1 && (from - 1) / columns == (to - 1) / columns));
      EXPECT_TRUE(seen.count({0, from}) + seen.count({from, sink}) == 1);
      int const contrast = light[from] - light[to];
      EXPECT_EQ(w, 1 + 6300 / (100 + contrast * contrast));
      ++capacities[static_cast<unsigned>(w)];
    }
  }
  EXPECT_EQ(seen.size(), list.edges());
  EXPECT_NEAR(static_cast<double>(dark), rows * columns / 2, rows * columns / 5);
  EXPECT_GT(capacities[64], 20u) << "within what one sees";
  unsigned weak = 0;
  for (unsigned w = 0; w < 32; ++w) weak += capacities[w];
  EXPECT_GT(weak, 1000u) << "at its borders, and where there is noise";
}

TEST(generators, draw_weights) {
  auto list = generate(graph::uniform{{.vertices = 10, .edges = 1000}});
  auto const other = list.weights;
  draw_weights(list, 5, 7);
  auto const [least, largest] = std::minmax_element(list.weights.begin(), list.weights.end());
  EXPECT_EQ(*least, 1u);
  EXPECT_EQ(*largest, 5u);
  auto again = list;
  draw_weights(again, 5, 7);
  EXPECT_EQ(again, list);
  draw_weights(again, 5, 8);
  EXPECT_NE(again, list);
}

TEST(generators, shuffle_vertices) {
  auto const before = generate(graph::washington{{.rows = 8, .columns = 6}});
  auto list = before;
  shuffle_vertices(list, 7);
  // One number for each, everywhere.
  std::map<graph::vertex, graph::vertex> number;
  std::set<graph::vertex> taken;
  auto const renamed = [&](graph::vertex from, graph::vertex to) {
    auto const [at, is_new] = number.emplace(from, to);
    return is_new ? taken.insert(to).second : at->second == to;
  };
  for (std::size_t e = 0; e < before.edges(); ++e) {
    EXPECT_TRUE(renamed(before.from[e], list.from[e]));
    EXPECT_TRUE(renamed(before.to[e], list.to[e]));
  }
  EXPECT_TRUE(renamed(before.ends->source, list.ends->source));
  EXPECT_TRUE(renamed(before.ends->sink, list.ends->sink));
  EXPECT_EQ(list.weights, before.weights);
  EXPECT_LT(*taken.rbegin(), before.vertices);
  std::size_t kept = 0;
  for (auto const& [from, to] : number) kept += from == to ? 1 : 0;
  EXPECT_LT(kept, number.size() / 4);

  auto again = before;
  shuffle_vertices(again, 7);
  EXPECT_EQ(again, list);
  again = before;
  shuffle_vertices(again, 8);
  EXPECT_NE(again, list);
}

}  // namespace
