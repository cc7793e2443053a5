// SPDX-License-Identifier: Apache-2.0
// What maximum flows by regions reckon with: which vertices are whose, turns of a cluster's
// regions, and when a search is due.

#include "apps/graph/generate.cuh"
#include "apps/max_flow/interval.cuh"
#include "apps/max_flow/region_map.cuh"
#include "apps/support/device.cuh"
#include "tests/apps/found_flow.hpp"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

namespace simt = warden::simt;

struct map_arguments {
  max_flow::region_shape shape;
  std::uint32_t vertices;
  std::uint64_t* wrong;   ///< vertices that are not where they should be, in that region alone
  std::uint64_t* places;  ///< places of blocks, which are those of vertices
};
WARDEN_KERNEL void look_at_map(map_arguments a) {
  using max_flow::region_map;
  max_flow::region_shape const& shape = a.shape;
  apps::for_my_share(a.vertices, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    unsigned regions = 0;
    for (std::uint32_t r = 0; r < shape.regions; ++r) {
      region_map const map{shape, r};
      if (!map.has(v)) continue;
      auto const [rank, place] = map.spot_of(v);
      bool const is = shape.region_of(v) == r && rank < shape.cluster && place < shape.part &&
                      map.vertex_at(rank, place) == v;
      regions += is ? 1 : 2;
    }
    if (regions != 1) simt::add(a.wrong, std::uint64_t{1});
  });
  std::uint64_t const of_region = std::uint64_t{shape.part} * shape.cluster;
  apps::for_my_share(of_region * shape.regions, [&](std::uint64_t i) {
    auto const place = static_cast<std::uint32_t>(i % shape.part);
    auto const rank = static_cast<unsigned>(i / shape.part % shape.cluster);
    region_map const map{shape, static_cast<std::uint32_t>(i / of_region)};
    if (map.vertex_at(rank, place) < a.vertices) simt::add(a.places, std::uint64_t{1});
  });
}
/// Every vertex is in one region, and has a bit of one block there.
TEST(max_flow, regions_have_each_vertex_once) {
  struct {
    std::uint32_t vertices, part;
    unsigned cluster;
  } const cases[]{{2, 32, 2},     {63, 32, 2},    {64, 32, 2},    {65, 32, 2},
                  {1000, 32, 2},  {1000, 64, 1},  {3000, 128, 1}, {5000, 32, 16},
                  {5000, 96, 16}, {20000, 64, 8}, {20000, 288, 8}};
  for (auto const& [vertices, part, cluster] : cases) {
    warden::buffer<std::uint64_t> counts{2};
    counts.fill_bytes(0);
    simt::launch(&look_at_map, apps::blocks(), apps::threads(), 0,
                 {max_flow::region_shape::of(vertices, part, cluster), vertices, counts.data(),
                  counts.data() + 1},
                 {});
    std::vector<std::uint64_t> const is = counts.to_host();
    EXPECT_EQ(is[0], 0u) << vertices << ' ' << part << ' ' << cluster;
    EXPECT_EQ(is[1], vertices) << part << ' ' << cluster;
  }
}

/// Also of clusters that have unequally many.
TEST(max_flow, regions_take_turns) {
  bool const is_simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  auto const g = generate(
      graph::washington{{.rows = is_simulated ? 24u : 160u, .columns = is_simulated ? 16u : 120u}});
  for (std::uint32_t const n : {1u, 2u, 3u, 5u}) {
    EXPECT_EQ(test::error_text_of(g, "warden_regions", {.regions_a_cluster = n}), "")
        << n << " regions a cluster";
  }
}

struct division_arguments {
  max_flow::divisor divisor;
  std::uint64_t* wrong;
};
WARDEN_KERNEL void divide(division_arguments a) {
  std::uint32_t const by = a.divisor.by();
  constexpr std::uint64_t end = std::uint64_t{1} << 32;
  std::uint64_t const quotients = end / by + 1, some = quotients < 4000 ? quotients : 4000;
  apps::for_my_share(some, [&](std::uint64_t i) {
    // From both ends.
    std::uint64_t const q = i % 2 == 0 ? i / 2 : quotients - 1 - i / 2;
    for (std::uint64_t const n : {q * by, q * by + by / 2, q * by + by - 1}) {
      if (n < end && a.divisor.quotient(static_cast<std::uint32_t>(n)) != q)
        simt::add(a.wrong, std::uint64_t{1});
    }
  });
}
TEST(max_flow, divisions_by_what_is_known_before_are_exact) {
  warden::buffer<std::uint64_t> wrong{1};
  for (std::uint32_t const turns : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 33u, 1023u, 9361u, 37449u, 65535u,
                                    65537u, 4793490u, 67108863u, 67108864u, 134217727u}) {
    wrong.fill_bytes(0);
    simt::launch(&divide, apps::blocks(), apps::threads(), 0,
                 {max_flow::divisor{32 * turns}, wrong.data()}, {});
    EXPECT_EQ(wrong.to_host()[0], 0u) << turns;
  }
}

TEST(max_flow, searches_are_due_by_what_they_cost) {
  max_flow::search_interval const when{.steps_a_level = 2, .active_a_step = 1000, .fixed = 64};
  std::uint32_t const million = 1u << 20;
  EXPECT_EQ(when.steps(300, 0, 2), 600u);
  EXPECT_EQ(when.steps(300, 0, million), 728u);
  EXPECT_EQ(when.steps(300, 1000, million), 364u);
  EXPECT_EQ(when.steps(300, 6000, million), 104u);
  // A larger network, where an active vertex costs twice as much.
  EXPECT_EQ(when.steps(300, 0, 16 * million), 2648u);
  EXPECT_EQ(when.steps(300, 6000, 16 * million), 203u);
  // One at least, and a number at most.
  EXPECT_EQ(when.steps(1, std::uint64_t{1} << 40, million), 1u);
  max_flow::search_interval const never{.steps_a_level = 1e300, .active_a_step = 1, .fixed = 0};
  EXPECT_EQ(never.steps(1, 0, 2), 1'000'000'000'000'000u);
}

}  // namespace
