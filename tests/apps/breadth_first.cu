// SPDX-License-Identifier: Apache-2.0
// Searches by all arms against a sequential one.

#include "apps/breadth_first/progress.cuh"
#include "tests/apps/searched.hpp"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using breadth_first::unreached;
using test::edges_of;
using test::searched;

class arms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(breadth_first, arms, testing::ValuesIn(breadth_first::arm_names()),
                         [](auto const& arm) { return arm.param; });

TEST_P(arms, find_levels) {
  searched rmat{generate(graph::rmat{{.scale = 9, .edge_factor = 8}}), GetParam()};
  EXPECT_EQ(rmat.error_text_from(1), "");
  EXPECT_EQ(rmat.error_text_from(317), "") << "the same memory again";
  EXPECT_EQ(searched(generate(graph::uniform{{.vertices = 500, .edges = 2000}}), GetParam())
                .error_text_from(0),
            "");
  EXPECT_EQ(searched(generate(graph::road_grid{{.rows = 12, .columns = 31}}), GetParam())
                .error_text_from(40),
            "");
}
TEST_P(arms, take_small_graphs) {
  EXPECT_EQ(searched(edges_of(1, {}), GetParam()).error_text_from(0), "") << "one vertex";
  EXPECT_EQ(searched(edges_of(1, {{0, 0}, {0, 0}}), GetParam()).error_text_from(0), "") << "loops";
  searched parts{edges_of(40, {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {3, 4}, {4, 5}, {39, 38}}),
                 GetParam()};
  EXPECT_EQ(parts.error_text_from(0), "") << "parallel edges";
  EXPECT_EQ(parts.error_text_from(2), "") << "alone";
  EXPECT_EQ(parts.error_text_from(39), "") << "another part";
}
TEST_P(arms, take_all_shapes) {
  searched star{test::star(700), GetParam()};
  EXPECT_EQ(star.error_text_from(0), "") << "from the middle";
  EXPECT_EQ(star.error_text_from(5), "") << "from a leaf";
  EXPECT_EQ(searched(test::path(200), GetParam()).error_text_from(0), "");
  EXPECT_EQ(searched(generate(graph::uniform{{.vertices = 2000, .edges = 9000}}), GetParam())
                .error_text_from(1),
            "")
      << "levels of several places for a thread";
  EXPECT_EQ(searched(test::complete(40), GetParam()).error_text_from(7), "");
}
/// Level after level of more chunks than there are blocks.
TEST_P(arms, share_wide_levels) {
  std::uint32_t const width = breadth_first::simt::has_registers ? 150'000 : 350, levels = 8;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 0; v < width; ++v) {
    arcs.emplace_back(levels * width, v);
    for (std::uint32_t level = 1; level < levels; ++level)
      arcs.emplace_back((level - 1) * width + v, level * width + v * std::uint64_t{7} % width);
  }
  EXPECT_EQ(
      searched(edges_of(levels * width + 1, arcs), GetParam()).error_text_from(levels * width), "");
}
TEST_P(arms, follow_arcs_one_way) {
  searched chain{edges_of(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {4, 3}, {0, 5}}, true), GetParam()};
  EXPECT_EQ(chain.error_text_from(0), "");
  EXPECT_EQ(chain.error_text_from(4), "");
  EXPECT_EQ(chain.error_text_from(5), "") << "no way on";
  graph::edge_list g = generate(graph::rmat{{.scale = 8, .edge_factor = 6}});
  g.directed = true;
  EXPECT_EQ(searched(std::move(g), GetParam()).error_text_from(3), "");
}

// ---- special cases of some arms

TEST(breadth_first, narrow_levels_are_one_blocks) {
  searched path{test::path(300), "top_down"};
  EXPECT_EQ(path.error_text_from(0), "");
  EXPECT_EQ(path.finder.facts().alone, 300u);
  searched wide{test::star(4000), "top_down"};
  EXPECT_EQ(wide.error_text_from(1), "");
  EXPECT_LT(wide.finder.facts().alone, 3u);
}
TEST(breadth_first, long_rows_take_several_places) {
  std::uint32_t const leaves = 3 * breadth_first::most_arcs_of_a_place + 5;
  searched star{test::star(leaves), "top_down"};
  EXPECT_EQ(star.error_text_from(1), "");
  EXPECT_EQ(star.finder.facts().most_places, leaves - 1);
  EXPECT_EQ(star.error_text_from(0), "");
}
TEST(breadth_first, wide_levels_are_bottom_up) {
  searched rmat{generate(graph::rmat{{.scale = 10, .edge_factor = 16}}), "direction_optimizing"};
  EXPECT_EQ(rmat.error_text_from(1), "");
  EXPECT_GT(rmat.finder.facts().bottom_up, 0u);
  EXPECT_LT(rmat.finder.facts().bottom_up, rmat.finder.facts().levels);
  EXPECT_LT(rmat.finder.facts().most_places, 600u) << "those of the widest levels are not queued";
  searched always{generate(graph::uniform{{.vertices = 900, .edges = 3000}}),
                  "direction_optimizing",
                  {.direction = {.alpha = 0xffffffff, .beta = 0xffffffff}}};
  EXPECT_EQ(always.error_text_from(1), "");
  EXPECT_EQ(always.finder.facts().bottom_up, always.finder.facts().levels);
}
/// Two wide parts with a narrow one between: bottom-up, top-down and bottom-up again.
TEST(breadth_first, goes_there_and_back) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  std::uint32_t const most = 600;
  for (std::uint32_t v = 1; v < most; ++v) {
    for (std::uint32_t k = 1; k < 9; ++k) arcs.emplace_back(v, v * k % most);
    arcs.emplace_back(v + most + 3, most + 3 + v * 7 % most);
    arcs.emplace_back(most + 3, v + most + 3);
  }
  for (std::uint32_t v = 0; v < 4; ++v) arcs.emplace_back(most - 1 + v, most + v);
  searched both{edges_of(2 * most + 3, arcs), "direction_optimizing", {.direction = {2, 1000}}};
  EXPECT_EQ(both.error_text_from(1), "");
  EXPECT_GT(both.finder.facts().bottom_up, 1u);
}
/// The rest of a row beyond what a lane asks by itself.
TEST(breadth_first, long_rows_look_for_a_parent_together) {
  graph::edge_list g = test::star(900);
  // The middle is the last vertex, and its way to the source its last arc but some.
  for (std::uint32_t e = 0; e < g.edges(); ++e) g.from[e] = 900, g.to[e] = e;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t e = 0; e < g.edges(); ++e) arcs.emplace_back(g.from[e], g.to[e]);
  for (std::uint32_t v = 0; v < 5; ++v) arcs.emplace_back(870 + v, 871 + v);
  searched star{edges_of(901, arcs),
                "direction_optimizing",
                {.direction = {.alpha = 0xffffffff, .beta = 0xffffffff}}};
  EXPECT_EQ(star.error_text_from(870), "");
  EXPECT_EQ(star.finder.facts().bottom_up, star.finder.facts().levels);
}
TEST(breadth_first, a_full_queue_is_told) {
  // More places than one block keeps to itself.
  searched star{test::star(4 * breadth_first::narrow_places), "cull_none", {.capacity = 30}};
  EXPECT_THAT(test::refusal([&] { star.finder.find(0); }),
              testing::MatchesRegex("breadth_first: a queue of [0-9]+ places, as vertices were "
                                    "queued more than once; there is room for 30 .*"));
  // One block keeps them, but has more arcs than it follows by itself.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 1; v <= 40; ++v) {
    arcs.emplace_back(0, v);
    for (std::uint32_t k = 0; k < breadth_first::narrow_arcs / 40; ++k)
      arcs.emplace_back(v, 41 + k);
  }
  searched few{edges_of(41 + breadth_first::narrow_arcs / 40, arcs), "cull_none", {.capacity = 30}};
  EXPECT_THAT(
      test::refusal([&] { few.finder.find(0); }),
      testing::MatchesRegex("breadth_first: a queue of 40 places, .*; there is room for 30 .*"));
}
TEST(breadth_first, refuses_what_it_cannot_do) {
  graph::device_csr const rows = build_csr(to_device(test::path(5)), {graph::arcs_of::undirected});
  auto const refusal = [](graph::csr_view const& out, graph::csr_view const& in,
                          std::string const& arm) {
    return test::refusal([&] { breadth_first::searcher{out, in, arm}; });
  };
  graph::csr_view const whole = rows.view();
  graph::csr_view other = whole;
  other.arcs = std::uint64_t{1} << 32;
  EXPECT_THAT(refusal(other, other, "top_down"),
              testing::StartsWith("breadth_first: 4294967296 arcs; the limit is 4294967295"));
  other.arcs = 7;
  EXPECT_THAT(refusal(whole, other, "top_down"),
              testing::StartsWith("breadth_first: 7 arcs come to 5 vertices, but 8 leave 5"));
  EXPECT_THAT(refusal(whole, whole, "no"),
              testing::StartsWith("breadth_first: no arm 'no'; there are: gather_serial, "));
  breadth_first::searcher finder{whole, whole, "top_down"};
  EXPECT_THAT(test::refusal([&] { finder.find(5); }),
              testing::StartsWith("breadth_first: the source is vertex 5, which is not below 5, "
                                  "the number of vertices"));
  graph::device_csr const none =
      build_csr(to_device(edges_of(0, {})), {graph::arcs_of::undirected});
  breadth_first::searcher empty{none.view(), none.view(), "top_down"};
  EXPECT_THAT(test::refusal([&] { empty.find(0); }),
              testing::StartsWith("breadth_first: the source is vertex 0, which is not below 0"));
}

// ---- the check itself

TEST(breadth_first, the_check_finds_what_is_no_search) {
  // 0 - 1 - 2 - 3, 0 - 2, and 4 alone.
  graph::device_csr const rows = build_csr(to_device(edges_of(5, {{0, 1}, {1, 2}, {2, 3}, {0, 2}})),
                                           {graph::arcs_of::undirected});
  using numbers = std::vector<std::uint32_t>;
  auto const error_text_of = [&](numbers const& levels, numbers const& parents) {
    warden::buffer<std::uint32_t> const l{levels}, p{parents};
    return breadth_first::error_text(breadth_first::audit(rows.view(), 0, l.data(), p.data()));
  };
  numbers const levels{0, 1, 1, 2, unreached}, parents{0, 0, 0, 2, unreached};
  EXPECT_EQ(error_text_of(levels, parents), "");
  EXPECT_EQ(error_text_of({1, 1, 1, 2, unreached}, parents),
            "the source is not at level 0, or not its own parent; 2 vertices whose parent is not "
            "one level below");
  EXPECT_EQ(error_text_of({0, 1, 2, 3, unreached}, {0, 0, 1, 2, unreached}),
            "1 arcs lead more than one level up, or to none");
  EXPECT_EQ(error_text_of({0, 1, 1, unreached, unreached}, {0, 0, 0, unreached, unreached}),
            "1 arcs lead more than one level up, or to none");
  EXPECT_EQ(error_text_of(levels, {0, 0, 1, 2, unreached}),
            "1 vertices whose parent is not one level below");
  EXPECT_EQ(error_text_of(levels, {0, 0, 0, 1, unreached}),
            "1 vertices to which no arc of their parent leads");
  EXPECT_EQ(error_text_of({0, 1, 1, 2, 2}, {0, 0, 0, 2, 2}),
            "1 vertices to which no arc of their parent leads");
  EXPECT_EQ(error_text_of(levels, {0, 0, 0, 2, 2}),
            "1 vertices whose parent is not one level below");
  EXPECT_EQ(error_text_of(levels, {1, 0, 0, 2, unreached}),
            "the source is not at level 0, or not its own parent");
}

}  // namespace
