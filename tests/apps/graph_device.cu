// SPDX-License-Identifier: Apache-2.0
// Rows built on the device: those of the host's build, and on a large GPU more than 2^31 of them.

#include "apps/graph/device_csr.cuh"
#include "apps/graph/generate.cuh"
#include "apps/graph/primitives.hpp"
#include "apps/support/device.cuh"
#include "tests/apps/graph_folder.hpp"
#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using graph::arcs_of;
using graph::device_edges;
using graph::edge_list;
using numbers = std::vector<std::uint32_t>;

void expect_same(edge_list const& g) {
  auto const there = graph::to_device(g);
  for (arcs_of const arcs : {arcs_of::directed, arcs_of::undirected, arcs_of::flow}) {
    for (int which = 0; which < 4; ++which) {
      graph::csr_options const o{arcs, which % 2 != 0, which / 2 != 0 && paired(arcs)};
      ASSERT_EQ(to_host(build_csr(there, o)), build_csr(g, o)) << which;
    }
  }
}

TEST(graph_device, builds_what_the_host_builds) {
  std::vector<graph::generator> const some{
      graph::rmat{{.scale = test::sized(8u, 16u), .edge_factor = 9}},
      graph::uniform{{.vertices = 1000, .edges = test::sized(3000u, 300'000u)}},
      graph::uniform{{.vertices = 1, .edges = 50}},
      graph::uniform{{.vertices = 5'000'000, .edges = 99}},
      graph::road_grid{{.rows = 13, .columns = test::sized(29u, 2900u)}},
      graph::washington{{.rows = 7, .columns = 5}},
      graph::rmf{{.a = 3, .b = 5}},
      graph::image_grid{{.rows = 9, .columns = 11}}};
  for (auto const& g : some) expect_same(generate(g));
}

TEST(graph_device, builds_small_graphs) {
  for (std::uint64_t const n : {0, 1, 2}) expect_same(test::edges(n, true, {}, {}));
  expect_same(test::edges(1, true, {0}, {0}));
  expect_same(test::edges(3, true, {2}, {2}, {7}));
  expect_same(test::edges(2, true, {0, 1, 0}, {1, 0, 1}));
}

TEST(graph_device, refuses_edges_and_options) {
  auto const error_of = [](edge_list const& g, graph::csr_options const& o) -> std::string {
    try {
      static_cast<void>(build_csr(graph::to_device(g), o));
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(test::edges(3, true, {0, 1, 3, 9}, {1, 2, 0, 9}), {}),
            "graph: edge 2 joins 3 and 0; there are 3 vertices");
  EXPECT_EQ(error_of(test::edges(3, true, {0, 0}, {1, 3}), {.arcs = arcs_of::directed}),
            "graph: edge 1 joins 0 and 3; there are 3 vertices");
  EXPECT_EQ(error_of(test::edges(2, true, {0}, {1}), {.arcs = arcs_of::directed, .reverse = true}),
            "graph: arcs of a directed graph have no reverse arcs");
}

TEST(graph_primitives, sort_by_some_bits_and_keep_the_order) {
  std::uint64_t const n = test::sized(1000u, 1'000'000u);
  std::mt19937 random{5};
  for (unsigned const bits : {1u, 5u, 32u}) {
    numbers keys(n), values(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      keys[i] = static_cast<std::uint32_t>(random());
      values[i] = static_cast<std::uint32_t>(i);
    }
    std::uint32_t const mask = 0xffffffffu >> (32 - bits);
    numbers wanted = values;
    std::stable_sort(wanted.begin(), wanted.end(), [&](std::uint32_t i, std::uint32_t j) {
      return (keys[i] & mask) < (keys[j] & mask);
    });
    warden::buffer<std::uint32_t> const k{keys}, k2{n}, v{values}, v2{n};
    graph::array_pair key_arrays{k.data(), k2.data()}, value_arrays{v.data(), v2.data()};
    sort_pairs(key_arrays, value_arrays, n, bits, {});
    numbers found(n), found_keys(n);
    warden::copy(found.data(), value_arrays.current, n);
    warden::copy(found_keys.data(), key_arrays.current, n);
    warden::stream_ref{}.synchronize();
    EXPECT_EQ(found, wanted);
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(found_keys[i], keys[wanted[i]]);
  }
}

TEST(graph_primitives, count_runs_and_add_up) {
  numbers const keys{3, 3, 3, 0, 7, 7, 3};
  warden::buffer<std::uint32_t> const k{keys}, unique{7};
  warden::buffer<std::uint64_t> const lengths{7};
  ASSERT_EQ(graph::run_lengths(k.data(), 7, unique.data(), lengths.data(), {}), 4u);
  numbers found = unique.to_host();
  found.resize(4);
  EXPECT_EQ(found, (numbers{3, 0, 7, 3}));
  graph::exclusive_sum(lengths.data(), 4, {});
  auto sums = lengths.to_host();
  sums.resize(4);
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{0, 3, 4, 6}));
}

/// Checks the arcs of a graph if the host has no room for them.
struct arc_check {
  graph::csr_view rows;
  graph::vertex const* from;
  graph::vertex const* to;
  graph::weight const* weights;
  std::uint64_t* right;   ///< arcs that are those of their edges, and whose reverse is theirs
  std::uint64_t* hashes;  ///< sum of a hash of each arc's edge
};
WARDEN_KERNEL void check_arcs(arc_check a) {
  std::uint64_t right = 0, hashes = 0;
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    for (std::uint64_t p = a.rows.offsets[v]; p < a.rows.offsets[v + 1]; ++p) {
      std::uint32_t const e = a.rows.edges[p];
      std::uint64_t const r = a.rows.reverse[p];
      graph::vertex const to = a.rows.neighbours[p];
      bool const there = a.from[e] == v && a.to[e] == to, back = a.to[e] == v && a.from[e] == to;
      bool const paired = r != p && a.rows.reverse[r] == p && a.rows.edges[r] == e &&
                          a.rows.neighbours[r] == v && r >= a.rows.offsets[to] &&
                          r < a.rows.offsets[to + std::uint64_t{1}];
      right += (there || back) && paired && a.rows.weights[p] == a.weights[e] ? 1 : 0;
      hashes += test::mix(e);
    }
  });
  warden::simt::fetch_add(a.right, right);
  warden::simt::fetch_add(a.hashes, hashes);
}

void expect_right_arcs(graph::generator const& g) {
  device_edges const edges = generate_on_device(g);
  auto const rows = build_csr(edges, {arcs_of::undirected, true, true});
  warden::buffer<std::uint64_t> found{2};
  found.fill_bytes(0);
  warden::launch(check_arcs, apps::blocks(), apps::threads(), {},
                 {rows.view(), edges.from.data(), edges.to.data(), edges.weights.data(),
                  found.data(), found.data() + 1});
  auto const sums = found.to_host();
  std::uint64_t wanted = 0;
  for (std::uint64_t e = 0; e < edges.edges(); ++e) wanted += 2 * test::mix(e);
  EXPECT_EQ(sums[0], 2 * edges.edges());
  EXPECT_EQ(sums[1], wanted) << "each edge's arcs, once each";
  std::uint64_t last = 0;
  warden::copy(&last, rows.offsets.data() + edges.vertices, 1);
  warden::stream_ref{}.synchronize();
  EXPECT_EQ(last, 2 * edges.edges());
}

TEST(graph_device, makes_pairs_of_arcs) {
  expect_right_arcs(graph::uniform{{.vertices = 300, .edges = test::sized(999u, 2'000'000u)}});
  expect_right_arcs(graph::rmat{{.scale = test::sized(6u, 18u)}});
}

TEST(graph_device, counts_beyond_31_bits) {
  if (warden::runtime::facts(0).global_bytes < 120e9) GTEST_SKIP() << "takes 100 GB";
  expect_right_arcs(graph::uniform{{.vertices = 100'000'000, .edges = 1'100'000'000}});
}

}  // namespace
