// SPDX-License-Identifier: Apache-2.0
// Ratings that are made, and their division in two.

#include "apps/matrix_factorization/planted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using factorization::planted_ratings;
using factorization::planted_shape;
using factorization::rating_list;

constexpr planted_shape shape{2000, 300, 40000, 900};

std::vector<std::uint32_t> counts(std::vector<std::uint32_t> const& ids, std::uint32_t n) {
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t const id : ids) ++all.at(id);
  std::sort(all.begin(), all.end(), std::greater<>{});
  return all;
}

/// Pairs of user and item.
std::size_t different(rating_list const& list) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t k = 0; k < list.size(); ++k) pairs.emplace(list.user[k], list.item[k]);
  return pairs.size();
}

TEST(planted_ratings, have_the_shape_that_is_asked_for) {
  rating_list const list = planted_ratings(shape, 1);
  EXPECT_EQ(list.users, shape.users);
  EXPECT_EQ(list.items, shape.items);
  ASSERT_EQ(list.size(), shape.ratings);
  auto const popularity = counts(list.item, list.items);
  EXPECT_EQ(popularity[0], shape.hottest_item);
  EXPECT_LE(popularity[1], shape.hottest_item);
  EXPECT_GE(popularity.back(), 1u);
  EXPECT_LT(popularity[150], popularity[0] / 10) << "most are far less popular";
  auto const activity = counts(list.user, list.users);
  EXPECT_GT(activity[0], 5 * activity[1000]) << "users are not alike";
  EXPECT_EQ(different(list), list.size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    float const v = list.value[k];
    ASSERT_TRUE(v >= 0.5f && v <= 5 && 2 * v == std::round(2 * v)) << v;
  }
}

TEST(planted_ratings, are_the_same_for_a_seed_and_others_for_another) {
  rating_list const a = planted_ratings(shape, 1), b = planted_ratings(shape, 1),
                    c = planted_ratings(shape, 2);
  EXPECT_EQ(a.user, b.user);
  EXPECT_EQ(a.item, b.item);
  EXPECT_EQ(a.value, b.value);
  EXPECT_NE(a.user, c.user);
  EXPECT_NE(a.value, c.value);
}

TEST(planted_ratings, of_known_sets) {
  EXPECT_EQ(factorization::planted_named("netflix").hottest_item, 232944u);
  EXPECT_EQ(factorization::planted_named("movielens-10m").ratings, 10000054u);
  EXPECT_THROW(factorization::planted_named("other"), std::runtime_error);
}

TEST(planted_ratings, of_extreme_shapes) {
  // Every user rates all items but one.
  EXPECT_EQ(different(planted_ratings({10, 2, 19, 10}, 1)), 19u);
  EXPECT_EQ(different(planted_ratings({1, 1, 1, 1}, 1)), 1u);
  EXPECT_EQ(different(planted_ratings({100, 5, 14, 10}, 1)), 14u);
  EXPECT_EQ(different(planted_ratings({100, 50, 3000, 90}, 1)), 3000u);
  for (planted_shape const& s :
       {planted_shape{0, 1, 1, 1}, {1, 0, 1, 1}, {10, 2, 21, 10}, {10, 2, 5, 11}, {10, 9, 9, 5}}) {
    EXPECT_THROW(planted_ratings(s, 1), std::runtime_error);
  }
}

TEST(ratings, are_divided_in_two) {
  rating_list const all = planted_ratings(shape, 1);
  auto const [train, test] = factorization::split(all, 0.1, 5);
  EXPECT_EQ(train.size() + test.size(), all.size());
  EXPECT_NEAR(static_cast<double>(test.size()), 4000, 300);
  EXPECT_EQ(test.users, all.users);
  EXPECT_EQ(test.items, all.items);
  // Merged again, both in their order.
  std::size_t a = 0, b = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const is = [&](rating_list const& l, std::size_t at) {
      return at < l.size() && l.user[at] == all.user[k] && l.item[at] == all.item[k] &&
             l.value[at] == all.value[k];
    };
    ASSERT_TRUE(is(train, a) || is(test, b)) << k;
    (is(train, a) ? a : b) += 1;
  }
  EXPECT_EQ(factorization::split(all, 0.1, 5).test.user, test.user);
  EXPECT_NE(factorization::split(all, 0.1, 6).test.user, test.user);
  EXPECT_EQ(factorization::split(all, 0, 5).test.size(), 0u);
}

}  // namespace
