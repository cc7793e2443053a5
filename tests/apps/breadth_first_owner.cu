// SPDX-License-Identifier: Apache-2.0
// Searches by owner against a sequential one, for several numbers of ranks.

#include "tests/apps/found_by_owner.hpp"
#include "tests/support/error_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using breadth_first::direction_choice;
using test::edges_of;
using test::owned_graph;

constexpr direction_choice always_up{.alpha = 0xffffffff, .beta = 0xffffffff};
constexpr direction_choice always_down{.alpha = 0, .beta = 24};

/// Returns the error of each rank, or "".
std::vector<std::string> errors_of(warden::loopback_settings const& chosen,
                                   std::function<void(warden::communicator const&)> const& body) {
  std::vector<std::string> errors;
  for (std::exception_ptr const& thrown : run_ranks(chosen, body)) {
    errors.push_back(test::error_of<warden::error>([&] {
      if (thrown) std::rethrow_exception(thrown);
    }));
  }
  return errors;
}

class ranks : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(breadth_first_owner, ranks, testing::Values(1, 2, 3));

TEST_P(ranks, find_levels) {
  owned_graph rmat{generate(graph::rmat{{.scale = 9, .edge_factor = 8}})};
  EXPECT_EQ(rmat.error_text_from(1, GetParam()), "");
  EXPECT_GT(rmat.facts.bottom_up, 0u);
  EXPECT_LT(rmat.facts.bottom_up, rmat.facts.levels);
  EXPECT_EQ(rmat.error_text_from(317, GetParam()), "") << "a source without arcs";
  EXPECT_EQ(owned_graph(generate(graph::uniform{{.vertices = 500, .edges = 2000}}))
                .error_text_from(0, GetParam()),
            "");
  EXPECT_EQ(owned_graph(generate(graph::road_grid{{.rows = 6, .columns = 17}}))
                .error_text_from(40, GetParam()),
            "");
}
TEST_P(ranks, go_one_way_only_if_told) {
  for (direction_choice const& choice : {always_up, always_down}) {
    owned_graph rmat{generate(graph::rmat{{.scale = 8, .edge_factor = 6}}), choice};
    EXPECT_EQ(rmat.error_text_from(3, GetParam()), "");
    EXPECT_EQ(rmat.facts.bottom_up, choice.alpha == 0 ? 0 : rmat.facts.levels);
  }
}
TEST_P(ranks, take_small_graphs) {
  EXPECT_EQ(owned_graph(edges_of(1, {})).error_text_from(0, GetParam()), "") << "no arcs at all";
  EXPECT_EQ(owned_graph(edges_of(1, {{0, 0}, {0, 0}})).error_text_from(0, GetParam()), "");
  // Two components, parallel edges, and vertices without arcs.
  owned_graph parts{edges_of(40, {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {3, 4}, {4, 5}, {39, 38}})};
  EXPECT_EQ(parts.error_text_from(0, GetParam()), "");
  EXPECT_EQ(parts.error_text_from(2, GetParam()), "") << "a source without arcs";
  EXPECT_EQ(parts.error_text_from(38, GetParam()), "") << "another component";
}
/// Ranks without vertices take part, too.
TEST(breadth_first_owner, takes_more_ranks_than_vertices) {
  owned_graph path{test::path(3)};
  EXPECT_EQ(path.error_text_from(1, 5), "");
  EXPECT_EQ(owned_graph(edges_of(2, {})).error_text_from(1, 3), "");
}
TEST_P(ranks, take_all_shapes) {
  owned_graph star{test::star(3 * breadth_first::most_arcs_of_a_place + 5)};
  EXPECT_EQ(star.error_text_from(0, GetParam()), "") << "from the middle";
  EXPECT_EQ(star.error_text_from(5, GetParam()), "") << "from a leaf";
  EXPECT_EQ(owned_graph(test::path(100)).error_text_from(0, GetParam()), "");
  EXPECT_EQ(owned_graph(test::complete(40)).error_text_from(7, GetParam()), "");
}
TEST_P(ranks, follow_arcs_one_way) {
  owned_graph chain{edges_of(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {4, 3}, {0, 5}}, true)};
  EXPECT_EQ(chain.error_text_from(0, GetParam()), "");
  EXPECT_EQ(chain.error_text_from(4, GetParam()), "");
  EXPECT_EQ(chain.error_text_from(5, GetParam()), "") << "no arc leaves the source";
  for (direction_choice const& choice : {breadth_first::owner_direction, always_up, always_down}) {
    graph::edge_list g = generate(graph::rmat{{.scale = 8, .edge_factor = 6}});
    g.directed = true;
    EXPECT_EQ(owned_graph(std::move(g), choice).error_text_from(3, GetParam()), "");
  }
}
/// One rank owns a tenth, and then none of the vertices, so the source is another rank's.
TEST(breadth_first_owner, parts_may_be_unequal) {
  owned_graph rmat{generate(graph::rmat{{.scale = 9, .edge_factor = 4}})};
  std::vector<std::uint32_t> owners(rmat.out().vertices());
  for (std::uint32_t tenth : {10u, 1000u}) {
    for (std::uint32_t v = 0; v < owners.size(); ++v) owners[v] = v % tenth == 7 ? 0 : 1;
    auto const parts = breadth_first::give_to(owners, rmat.out(), rmat.in(), 2);
    ASSERT_LT(parts.owned[0], parts.owned[1] / 5);
    for (std::uint32_t source : {7u, 8u, 9u}) EXPECT_EQ(rmat.error_text_from(source, parts), "");
  }
  owners.assign(owners.size(), 2);
  EXPECT_EQ(rmat.error_text_from(9, breadth_first::give_to(owners, rmat.out(), rmat.in(), 3)), "");
}
/// Rank 2 owns a vertex that ranks 0 and 1 find in one level, from 1 and from 2. If that is a hub,
/// the parent is the one that the lowest rank has sent. Otherwise the owner takes the first of its
/// row, from the highest degree on.
TEST(breadth_first_owner, hubs_have_the_parents_that_travel) {
  constexpr std::uint32_t source = 0, low = 1, high = 2, found = 3;
  std::uint32_t const most = breadth_first::most_arcs_searched;
  for (std::uint32_t leaves : {most - 2, most - 1}) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs{
        {source, low}, {source, high}, {low, found}, {high, found}};
    std::uint32_t next = 4;
    for (std::uint32_t k = 0; k < leaves; ++k) arcs.emplace_back(found, next++);
    for (std::uint32_t k = 0; k < 5; ++k) arcs.emplace_back(high, next++);
    owned_graph g{edges_of(next, arcs), always_down};
    std::vector<std::uint32_t> owners(next, 2);
    owners[low] = 0;
    owners[high] = 1;
    auto const parts = breadth_first::give_to(owners, g.out(), g.in(), 3);
    EXPECT_EQ(places_above(g.in(), parts, most), leaves + 2 > most ? 1u : 0u);
    EXPECT_EQ(g.error_text_from(source, parts), "");
    EXPECT_EQ(g.parents[found], leaves + 2 > most ? low : high) << leaves << " leaves";
  }
}
/// The hubs are found in one level: by rank 0 alone, by rank 1 alone or by both ranks.
TEST(breadth_first_owner, each_rank_may_own_hubs) {
  constexpr std::uint32_t hubs = 70;
  std::uint32_t const leaves = breadth_first::most_arcs_searched + 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 0; v < hubs; ++v) {
    arcs.emplace_back(hubs, v);
    if (v % 3 == 0) arcs.emplace_back(hubs + 1, v);
    for (std::uint32_t k = 0; k < leaves; ++k) arcs.emplace_back(v, hubs + 3 + v * leaves + k);
  }
  arcs.emplace_back(hubs + 2, hubs);
  arcs.emplace_back(hubs + 2, hubs + 1);
  owned_graph g{edges_of(hubs + 3 + hubs * leaves, arcs), always_down};
  std::vector<std::uint32_t> owners(g.out().vertices());
  for (std::uint32_t v = 0; v < owners.size(); ++v) owners[v] = v % 2;
  auto const parts = breadth_first::give_to(owners, g.out(), g.in(), 2);
  EXPECT_GE(places_above(g.in(), parts, breadth_first::most_arcs_searched), hubs / 2);
  for (std::uint32_t source : {hubs, hubs + 1, hubs + 2, hubs + 3})
    EXPECT_EQ(g.error_text_from(source, parts), "") << "from " << source;
}
/// Two wide parts with a narrow one between: bottom-up, top-down and bottom-up again.
TEST_P(ranks, go_there_and_back) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  std::uint32_t const most = 600;
  for (std::uint32_t v = 1; v < most; ++v) {
    for (std::uint32_t k = 1; k < 9; ++k) {
      arcs.emplace_back(v, v * k % most);
      arcs.emplace_back(v + most + 3, most + 3 + v * k % most);
    }
  }
  for (std::uint32_t v = 0; v < 5; ++v) arcs.emplace_back(most - 1 + v, most + v);
  owned_graph both{edges_of(2 * most + 3, arcs), {.alpha = 20, .beta = 1000}};
  EXPECT_EQ(both.error_text_from(1, GetParam()), "");
  EXPECT_GT(both.facts.bottom_up, 1u);
  EXPECT_LT(both.facts.bottom_up + 4, both.facts.levels) << "narrow levels are top-down";
}
/// More levels than the first batch has steps.
TEST(breadth_first_owner, goes_on_after_a_batch_of_steps) {
  owned_graph path{test::path(30)};
  EXPECT_EQ(path.error_text_from(0, 2), "");
  EXPECT_EQ(path.facts.levels, 30u);
  EXPECT_GE(path.facts.steps, 30u);
  EXPECT_LT(path.facts.steps, 45u);
}
/// A communicator of one rank that counts how often its host waits.
class counted_waits final : public warden::runtime::transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void all_gather(void const*, void*, std::size_t, warden::stream_ref,
                  std::source_location) override {
    ADD_FAILURE() << "one rank gathers";
  }
  void exchange(std::span<warden::runtime::outgoing const>,
                std::span<warden::runtime::incoming const>, warden::stream_ref,
                std::source_location) override {
    ADD_FAILURE() << "one rank exchanges";
  }
  void wait(warden::stream_ref s, std::source_location where) override {
    ++count;
    s.synchronize(where);
  }
  int count = 0;
};
TEST(breadth_first_owner, the_host_waits_for_many_levels_at_a_time) {
  owned_graph const path{test::path(200)};
  auto const parts = breadth_first::deal_by_degree(path.out(), path.in(), 1);
  auto const waits = std::make_shared<counted_waits>();
  breadth_first::owner_searcher finder{warden::communicator{waits}, parts, path.out(), path.in()};
  finder.find(0);
  EXPECT_EQ(finder.facts().levels, 200u);
  EXPECT_LE(waits->count, 10);
}
TEST_P(ranks, measure_each_step) {
  owned_graph path{test::path(20)};
  auto const parts = breadth_first::deal_by_degree(path.out(), path.in(), GetParam());
  warden::loopback_settings chosen;
  chosen.ranks = static_cast<int>(GetParam());
  auto const errors = errors_of(chosen, [&](warden::communicator const& world) {
    breadth_first::owner_searcher finder{world, parts, path.out(), path.in()};
    EXPECT_EQ(finder.find_and_measure(3, 1000).size(), finder.facts().steps);
    EXPECT_EQ(finder.facts().levels, 17u);
    EXPECT_EQ(finder.find_and_measure(3, 5).size(), 5u) << "the first steps only";
    EXPECT_EQ(finder.facts().levels, 17u);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

// ---- errors

TEST(breadth_first_owner, tells_ranks_of_a_rank_that_does_not_come) {
  owned_graph const path{test::path(50)};
  auto const parts = breadth_first::deal_by_degree(path.out(), path.in(), 2);
  for (int last : {0, 5}) {
    warden::loopback_settings chosen;
    if (last != 0) chosen.fails_at = last;
    auto const errors = errors_of(chosen, [&](warden::communicator const& world) {
      breadth_first::owner_searcher finder{world, parts, path.out(), path.in()};
      if (last == 0 && world.rank() == 1) return;
      finder.find(0);
    });
    EXPECT_THAT(errors[0], testing::HasSubstr(last == 0 ? "waiting for rank 1"
                                                        : "the communicator is in error"));
  }
}
TEST(breadth_first_owner, refuses_what_it_cannot_do) {
  owned_graph const path{test::path(5)};
  auto const parts = breadth_first::deal_by_degree(path.out(), path.in(), 1);
  auto const world = warden::communicator::alone();
  breadth_first::owner_searcher finder{world, parts, path.out(), path.in()};
  EXPECT_THAT(test::refusal([&] { finder.find(5); }),
              testing::StartsWith("breadth_first: the source is vertex 5, which is not below 5, "
                                  "the number of vertices"));
  auto const of_two = breadth_first::deal_by_degree(path.out(), path.in(), 2);
  EXPECT_THAT(test::refusal([&] {
                breadth_first::owner_searcher{world, of_two, path.out(), path.in()};
              }),
              testing::StartsWith("breadth_first: the vertices are divided among 2 ranks, and the "
                                  "communicator has 1"));
}

}  // namespace
