// SPDX-License-Identifier: Apache-2.0
// Ratings sorted for rounds: all are there, each in its tile pair, those of an item side by side.

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/planted.hpp"
#include "apps/matrix_factorization/sequential.hpp"
#include "apps/matrix_factorization/tile_pairs.hpp"
#include "tests/apps/planned_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using factorization::item_run;
using factorization::placed_rating;
using factorization::rating_list;
using factorization::tile_pair_plan;

/// Replays the work of a tile pair as the device does it: each worker's next rating waits for its
/// turn. Checks that all ratings are done, and returns the number of steps.
std::uint32_t steps_of(tile_pair_plan const& plan, std::size_t tile_pair) {
  std::size_t const workers = plan.shape.workers;
  std::vector<std::uint32_t> at(workers), end(workers), played(plan.shape.part_size);
  std::uint32_t left = 0, steps = 0;
  for (std::size_t k = 0; k < workers; ++k) {
    at[k] = plan.runs[plan.begins[tile_pair * workers + k]].begin;
    end[k] = plan.runs[plan.begins[tile_pair * workers + k + 1]].begin;
    left += end[k] - at[k];
  }
  for (bool moves = true; left != 0 && moves; ++steps) {
    moves = false;
    std::vector<std::uint32_t> users;  // users with a rating in this step
    for (std::size_t k = 0; k < workers; ++k) {
      if (at[k] == end[k]) continue;
      std::uint32_t const n = 1 + factorization::later_ratings(plan.ratings[at[k]].bits);
      std::vector<std::uint32_t> batch;
      for (std::uint32_t j = 0; j < n && at[k] + j < end[k]; ++j) {
        std::uint32_t const bits = plan.ratings[at[k] + j].bits;
        EXPECT_EQ(factorization::later_ratings(bits), n - 1 - j);
        if (played.at(factorization::place_of(bits)) == factorization::turn_of(bits))
          batch.push_back(factorization::place_of(bits));
      }
      if (batch.size() != n) continue;
      users.insert(users.end(), batch.begin(), batch.end());
      at[k] += n;
      left -= n;
      moves = true;
    }
    for (std::size_t k = 0; k < users.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j) EXPECT_NE(users[k], users[j]) << "two have one row";
    }
    for (std::uint32_t const user : users) ++played[user];
  }
  EXPECT_EQ(left, 0u) << "workers wait for one another";
  return steps;
}

/// Checks that a worker's first ratings need not wait, as the plan says.
void check_free(tile_pair_plan const& plan, std::size_t worker) {
  item_run const* const run = &plan.runs[plan.begins[worker]];
  std::uint32_t const n = plan.frees[worker], most = placed_rating::most_of_batch;
  if (n == 0) return;
  ASSERT_LE(n, run[1].begin - run[0].begin) << "those of one item";
  ASSERT_EQ(n % most, 0u);
  for (std::uint32_t k = 0; k < n; ++k) {
    std::uint32_t const bits = plan.ratings[run->begin + k].bits;
    EXPECT_EQ(factorization::later_ratings(bits), most - 1 - k % most);
    EXPECT_EQ(factorization::turn_of(bits), 0u);
  }
}

/// Checks everything that a plan promises.
void check(rating_list const& list, factorization::tile_pair_shape const& shape) {
  tile_pair_plan const plan = factorization::plan_tile_pairs(list, shape, 0.5f);
  ASSERT_EQ(plan.user_parts % shape.item_parts, 0u);
  ASSERT_EQ(plan.user_of.size(), std::size_t{plan.user_parts} * shape.part_size);
  ASSERT_EQ(plan.begins.size(), plan.tile_pairs() * shape.workers + 1);
  ASSERT_EQ(plan.frees.size(), plan.tile_pairs() * shape.workers);
  ASSERT_EQ(plan.ratings.size(), list.size());
  using rating = std::tuple<std::uint32_t, std::uint32_t, float>;
  std::vector<rating> found, wanted;
  std::vector<std::uint32_t> part_of(list.items, ~0u);
  for (std::size_t tile_pair = 0; tile_pair < plan.tile_pairs(); ++tile_pair) {
    std::size_t const part = tile_pair / shape.item_parts;
    std::uint32_t const item_part =
        plan.item_part(part, static_cast<std::uint32_t>(tile_pair % shape.item_parts));
    for (std::size_t k = 0; k < shape.workers; ++k) check_free(plan, tile_pair * shape.workers + k);
    std::set<std::uint32_t> items;
    for (std::uint32_t r = plan.begins[tile_pair * shape.workers];
         r < plan.begins[(tile_pair + 1) * shape.workers]; ++r) {
      auto const [begin, item] = plan.runs[r];
      EXPECT_LT(begin, plan.runs[r + 1].begin);
      EXPECT_TRUE(items.insert(item).second) << "an item is one worker's";
      if (part_of[item] == ~0u) part_of[item] = item_part;
      EXPECT_EQ(part_of[item], item_part) << "an item is of one part";
      for (std::uint32_t k = begin; k < plan.runs[r + 1].begin; ++k) {
        std::uint32_t const place = factorization::place_of(plan.ratings[k].bits);
        ASSERT_LT(place, shape.part_size);
        found.emplace_back(plan.user_of[part * shape.part_size + place], item,
                           plan.ratings[k].value);
      }
    }
    steps_of(plan, tile_pair);
  }
  for (std::size_t k = 0; k < list.size(); ++k)
    wanted.emplace_back(list.user[k], list.item[k], list.value[k] - 0.5f);
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted);
  // Parts of the users side by side meet different parts of the items, and each one all.
  std::vector<std::uint32_t> shifts = plan.shifts;
  std::sort(shifts.begin(), shifts.end());
  ASSERT_EQ(shifts.size(), shape.item_parts);
  for (std::uint32_t s = 0; s < shape.item_parts; ++s) ASSERT_EQ(shifts[s], s);
  // Each user has one place.
  std::vector<std::uint32_t> users;
  for (std::uint32_t const u : plan.user_of)
    if (u != plan.no_user) users.push_back(u);
  std::sort(users.begin(), users.end());
  ASSERT_EQ(users.size(), list.users);
  for (std::uint32_t u = 0; u < list.users; ++u) ASSERT_EQ(users[u], u);
}

TEST(tile_pairs, have_all_ratings) {
  rating_list const list = factorization::planted_ratings({500, 60, 6000, 300}, 1);
  for (std::uint32_t const part_size : {1u, 7u, 64u, 512u}) {
    for (std::uint32_t const item_parts : {1u, 8u, 64u}) {
      for (std::uint32_t const workers : {1u, 4u, 16u}) {
        SCOPED_TRACE(std::to_string(part_size) + " " + std::to_string(item_parts) + " " +
                     std::to_string(workers));
        check(list, {part_size, item_parts, workers});
      }
    }
  }
}

TEST(tile_pairs, of_ratings_that_stand_twice) {
  rating_list list;
  list.users = 3;
  list.items = 2;
  for (float const value : {1.f, 2.f, 3.f}) {
    list.add(1, 1, value);
    list.add(1, 1, value);
    list.add(2, 0, value);
    list.add(2, 1, value);
  }
  check(list, {2, 1, 2});
}

TEST(tile_pairs, are_short) {
  rating_list const list = factorization::planted_ratings({4000, 400, 100000, 2000}, 1);
  tile_pair_plan const plan = factorization::plan_tile_pairs(list, {250, 16, 8}, 0);
  std::uint32_t steps = 0, least = 0;
  for (std::size_t tile_pair = 0; tile_pair < plan.tile_pairs(); ++tile_pair) {
    // No tile pair is shorter than its longest run, or than its ratings for each worker, by
    // batches.
    std::uint32_t longest = 0;
    std::size_t const from = plan.begins[tile_pair * 8], to = plan.begins[(tile_pair + 1) * 8];
    for (std::size_t r = from; r < to; ++r)
      longest = std::max(longest, plan.runs[r + 1].begin - plan.runs[r].begin);
    std::uint32_t const ratings = plan.runs[to].begin - plan.runs[from].begin;
    EXPECT_LT(ratings, 2 * list.size() / plan.tile_pairs()) << "about as long as one another";
    least += std::max((longest + 3) / 4, (ratings + 31) / 32);
    steps += steps_of(plan, tile_pair);
  }
  EXPECT_LE(steps, 2 * least);
}

/// The item that takes longest need not wait.
TEST(tile_pairs, are_free_for_the_hottest_item) {
  rating_list const list = factorization::planted_ratings({4000, 400, 100000, 2000}, 1);
  tile_pair_plan const plan = factorization::plan_tile_pairs(list, {250, 16, 8}, 0);
  for (std::size_t tile_pair = 0; tile_pair < plan.tile_pairs(); ++tile_pair) {
    std::uint32_t hottest = 0;
    for (std::uint32_t r = plan.begins[tile_pair * 8]; r < plan.begins[(tile_pair + 1) * 8]; ++r)
      hottest = std::max(hottest, plan.runs[r + 1].begin - plan.runs[r].begin);
    EXPECT_EQ(plan.frees[tile_pair * 8], hottest / 4 * 4) << "tile pair " << tile_pair;
  }
}

/// One user rates everything: his ratings, one after another, take longest.
TEST(tile_pairs, have_a_busy_user_alone) {
  constexpr std::uint32_t users = 40, items = 64;
  rating_list list;
  list.users = users;
  list.items = items;
  for (std::uint32_t i = 0; i < items; ++i) {
    list.add(0, i, 1);
    for (std::uint32_t k = 0; k < 6 + (i == 5 ? 20 : 0); ++k)
      list.add(1 + (i + k) % (users - 1), i, 1);
  }
  check(list, {users, 1, 4});
  tile_pair_plan const plan = factorization::plan_tile_pairs(list, {users, 1, 4}, 0);
  std::uint32_t busy = 0, alone = 0;
  for (std::size_t r = 0; r < plan.begins.back(); ++r) {
    for (std::uint32_t k = plan.runs[r].begin; k < plan.runs[r + 1].begin;) {
      std::uint32_t const n = 1 + factorization::later_ratings(plan.ratings[k].bits);
      for (std::uint32_t const end = k + n; k < end; ++k) {
        if (plan.user_of[factorization::place_of(plan.ratings[k].bits)] != 0) continue;
        ++busy;
        if (n == 1) ++alone;
        // The hottest item's worker need not wait.
        if (plan.runs[r].item == 5) {
          EXPECT_EQ(factorization::turn_of(plan.ratings[k].bits), 0u);
        }
      }
    }
  }
  EXPECT_EQ(busy, items);
  EXPECT_EQ(alone, items - 1);
}

/// In the order of the parts' numbers the error is far larger: where hot items have many ratings,
/// as here.
TEST(tile_pairs, are_in_an_order_that_learns_well) {
  rating_list const list = factorization::planted_ratings({20000, 500, 600000, 15000}, 1);
  tile_pair_plan const plan = factorization::plan_tile_pairs(list, {152, 132, 16}, 0);
  factorization::model const first = factorization::first_model(list, 16, 1);
  auto const learned = [&](factorization::sequential_descent const& order) {
    factorization::model m = first;
    for (unsigned epoch = 0; epoch < 10; ++epoch) order.run(m, {0.05f, 0.05f});
    return factorization::rmse_of(m, list);
  };
  rating_list const ordered = test::in_planned_order(plan, list.users, list.items, 0);
  EXPECT_LE(learned(factorization::sequential_descent{ordered}),
            1.01 * learned(factorization::sequential_descent{list, 1}));
}

/// A user who rates `items` items of one part, once each.
tile_pair_plan plan_of_one_user(std::uint32_t items) {
  rating_list list;
  list.users = 1;
  list.items = items;
  for (std::uint32_t i = 0; i < items; ++i) list.add(0, i, 1);
  return factorization::plan_tile_pairs(list, {1, 1, 1}, 0);
}
TEST(tile_pairs, have_as_many_ratings_of_a_user_as_there_are_turns) {
  tile_pair_plan const plan = plan_of_one_user(placed_rating::most_turns);
  ASSERT_EQ(plan.ratings.size(), placed_rating::most_turns);
  for (std::uint32_t k = 0; k < placed_rating::most_turns; ++k) {
    ASSERT_EQ(factorization::turn_of(plan.ratings[k].bits), k);
    ASSERT_EQ(factorization::place_of(plan.ratings[k].bits), 0u);
    ASSERT_EQ(factorization::later_ratings(plan.ratings[k].bits), 0u);
  }
}
TEST(tile_pairs, of_more_ratings_of_a_user_than_turns_are_refused) {
  try {
    plan_of_one_user(placed_rating::most_turns + 7);
    ADD_FAILURE() << "no error";
  } catch (std::runtime_error const& e) {
    EXPECT_STREQ(
        e.what(),
        "tile pairs: a user has 262151 ratings of one part of the items; the limit is 262144; "
        "take an arm that plans no tile pairs, such as warden_rounds");
  }
  EXPECT_THROW(plan_of_one_user(placed_rating::most_turns + 1), std::runtime_error);
}

}  // namespace
