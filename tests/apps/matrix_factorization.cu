// SPDX-License-Identifier: Apache-2.0
// Every arm: no step is lost, and it learns the planted factors as well as one thread does.

#include "apps/matrix_factorization/descent.cuh"
#include "apps/matrix_factorization/planted.hpp"
#include "apps/matrix_factorization/sequential.hpp"
#include "apps/matrix_factorization/step.cuh"
#include "apps/matrix_factorization/tile_pairs.hpp"
#include "tests/apps/planned_order.hpp"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using factorization::descent;
using factorization::model;
using factorization::planted_shape;
using factorization::rating_list;

bool is_simulated() { return warden::runtime::facts(warden::runtime::current_device()).simulated; }

class arms : public testing::TestWithParam<std::string> {};

TEST_P(arms, lose_no_step) {
  planted_shape const shape =
      is_simulated() ? planted_shape{90, 20, 500, 70} : planted_shape{60000, 2000, 4000000, 50000};
  auto const [train, test] = factorization::split(factorization::planted_ratings(shape, 1), 0.1, 1);
  for (unsigned const rank : {16u, 128u}) {
    descent d{factorization::first_model(train, rank, 1), train, test, GetParam()};
    for (unsigned run = 0; run < 2; ++run) {
      std::uint64_t const lost = d.lost();
      if (d.isolates()) {
        EXPECT_EQ(lost, 0u) << "rank " << rank;
      }
    }
  }
}

/// The result of one thread.
struct reference {
  rating_list train;
  model first;
  double before, almost_after, after;  ///< errors; `almost_after`: after the last epoch but one
};
planted_shape shape_to_learn() {
  // A simulated step is dear.
  return is_simulated() ? planted_shape{50, 16, 300, 40} : planted_shape{20000, 500, 600000, 15000};
}
factorization::schedule rates() {
  return is_simulated() ? factorization::schedule{0.2f, 0.1f, 0.15f}
                        : factorization::schedule{0.05f, 0.05f, 0.05f};
}
/// Until all orders of the ratings come to the same: they differ by far in the first ones.
unsigned epochs() { return is_simulated() ? 16 : 40; }
reference make_reference() {
  reference r{factorization::planted_ratings(shape_to_learn(), 1), {}, 0, 0, 0};
  r.first = factorization::first_model(r.train, is_simulated() ? 32 : 64, 1);
  r.before = factorization::rmse_of(r.first, r.train);
  model m = r.first;
  factorization::sequential_descent const sequential{r.train, 1};
  for (unsigned epoch = 0; epoch < epochs(); ++epoch) {
    if (epoch + 1 == epochs()) r.almost_after = factorization::rmse_of(m, r.train);
    sequential.run(m, rates().of(epoch));
  }
  r.after = factorization::rmse_of(m, r.train);
  return r;
}

TEST_P(arms, learn_as_one_thread_does) {
  // Made once for all arms, because the host is slow.
  static reference const wanted = make_reference();
  EXPECT_LT(wanted.after, 0.6 * wanted.before);
  EXPECT_LT(wanted.almost_after, 1.006 * wanted.after) << "has come to an end";
  descent d{wanted.first, wanted.train, wanted.train, GetParam()};
  EXPECT_NEAR(d.rmse(), wanted.before, 1e-4);
  for (unsigned epoch = 0; epoch < epochs(); ++epoch) d.run(rates().of(epoch));
  EXPECT_LT(d.rmse(), 0.95 * wanted.before);
  if (d.isolates()) {
    // To one side: an arm whose order of the ratings does better is right, too.
    EXPECT_LE(d.rmse(), 1.01 * wanted.after);
  }
  model found = wanted.first;
  d.copy_to(found);
  EXPECT_NEAR(factorization::rmse_of(found, wanted.train), d.rmse(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(all, arms, testing::ValuesIn(factorization::arm_names()),
                         [](auto const& name) { return name.param; });

/// Ratings of a batch, and users; the last of three batches is not full.
constexpr unsigned most = 4, users = 11;
/// Rows of users, then that of the item.
struct step_arguments {
  float *once, *together;
};
/// One group of lanes: the same steps one by one and by batches.
template <unsigned Rank>
WARDEN_KERNEL void make_steps(step_arguments a) {
  using share = factorization::row_share<Rank>;
  factorization::row_lanes<Rank> const lanes;
  if (simt::thread_rank() >= factorization::row_lanes<Rank>::lanes) return;
  factorization::descending const step{{0.1f, 0.05f}};
  float const values[3][most] = {{1, -2, 3, 0.5f}, {-1, 2, 0.25f, -3}, {2, 1, -1, 0}};
  auto const row = [&](float* rows, unsigned r) {
    return factorization::share_of<Rank>(rows, r, lanes.lane());
  };
  share item = *row(a.once, users);
  for (unsigned u = 0; u < users; ++u)
    step.once(lanes, *row(a.once, u), item, values[u / most][u % most]);
  *row(a.once, users) = item;

  share rows[3][most] = {};
  for (unsigned u = 0; u < users; ++u) rows[u / most][u % most] = *row(a.together, u);
  item = *row(a.together, users);
  factorization::batch_facts<most> facts[2];
  factorization::descending::sums<most> sums[2];
  step.look_ahead(lanes, rows[0], facts[0]);
  step.begin(lanes, rows[0], item, sums[0]);
  step.finish(lanes, sums[0], rows[0], item, values[0], facts[0], rows[1], facts[1]);
  step.begin(lanes, rows[1], item, sums[1]);
  step.finish(lanes, sums[1], rows[1], item, values[1], facts[1]);
  step.together(lanes, rows[2], item, values[2], users - 2 * most);
  for (unsigned u = 0; u < users; ++u) *row(a.together, u) = rows[u / most][u % most];
  *row(a.together, users) = item;
}
template <unsigned Rank>
void compare_steps() {
  std::vector<float> first((users + 1) * Rank);
  for (std::size_t k = 0; k < first.size(); ++k)
    first[k] = 0.5f * std::sin(static_cast<float>(3 * k + 1));
  warden::buffer<float> const once{first}, together{first};
  simt::launch(&make_steps<Rank>, 1, 32, 0, {once.data(), together.data()}, {});
  auto const wanted = once.to_host(), found = together.to_host();
  EXPECT_NE(wanted, first);
  for (std::size_t k = 0; k < first.size(); ++k) ASSERT_NEAR(found[k], wanted[k], 1e-4) << k;
}
TEST(steps, together_are_those_one_by_one) {
  compare_steps<16>();
  compare_steps<64>();
  compare_steps<128>();
}

/// Element by element what one thread makes of the ratings in the order that the plan says; but
/// sums are rounded otherwise.
TEST(rounds_on_chip, go_as_one_thread_in_their_order) {
  constexpr unsigned rank = 64;
  rating_list const train = factorization::planted_ratings(shape_to_learn(), 1);
  model const first = factorization::first_model(train, rank, 1);
  factorization::tile_pair_plan const plan = factorization::plan_tile_pairs(
      train, factorization::shape_of_rounds(train.users, rank), first.mean);
  rating_list const ordered = test::in_planned_order(plan, train.users, train.items, first.mean);
  ASSERT_EQ(ordered.size(), train.size());
  factorization::sequential_descent const sequential{ordered};
  model wanted = first, found = first;
  descent d{first, train, {}, "warden_rounds_on_chip"};
  for (unsigned epoch = 0; epoch < 4; ++epoch) {
    sequential.run(wanted, rates().of(epoch));
    d.run(rates().of(epoch));
  }
  d.copy_to(found);
  auto const compare = [&](std::vector<float> const& is, std::vector<float> const& should_be) {
    for (std::size_t k = 0; k < is.size(); ++k)
      ASSERT_NEAR(is[k], should_be[k], 1e-4) << "row " << k / rank;
  };
  compare(found.user_rows, wanted.user_rows);
  compare(found.item_rows, wanted.item_rows);
}

TEST(rounds_on_chip, give_the_same_bits_again) {
  planted_shape const shape =
      is_simulated() ? planted_shape{90, 20, 500, 70} : planted_shape{60000, 2000, 4000000, 50000};
  rating_list const train = factorization::planted_ratings(shape, 1);
  model const first = factorization::first_model(train, 64, 1);
  model results[2] = {first, first};
  for (model& m : results) {
    descent d{first, train, {}, "warden_rounds_on_chip"};
    for (unsigned epoch = 0; epoch < 3; ++epoch) d.run({0.05f, 0.05f});
    d.copy_to(m);
  }
  EXPECT_NE(results[0], first);
  EXPECT_EQ(results[0], results[1]);
}

TEST(arms, of_few_users_and_items) {
  rating_list one;
  one.users = 1;
  one.items = 1;
  one.add(0, 0, 3);
  one.add(0, 0, 4);  // twice
  for (std::string const& name : factorization::arm_names()) {
    descent d{factorization::first_model(one, 32, 1), one, one, name};
    std::uint64_t const lost = d.lost();
    if (d.isolates()) {
      EXPECT_EQ(lost, 0u) << name;
    }
  }
}

TEST(arms, that_there_are_not) {
  rating_list one;
  one.users = 1;
  one.items = 1;
  EXPECT_THROW(factorization::make_arm("hogwild", {&one, 32, 0, nullptr, nullptr}),
               warden::limit_error);
  one.add(0, 0, 3);
  EXPECT_THROW(factorization::make_arm("hog", {&one, 32, 0, nullptr, nullptr}),
               warden::limit_error);
  EXPECT_THROW(factorization::make_arm("hogwild", {&one, 24, 0, nullptr, nullptr}),
               warden::limit_error);
}

TEST(steps, that_turn_rows_around) {
  rating_list one;
  one.users = 1;
  one.items = 1;
  one.add(0, 0, 3);
  model m = factorization::first_model(one, 16, 1);
  factorization::sequential_descent const sequential{one};
  for (std::string const& name : factorization::arm_names()) {
    descent d{m, one, one, name};
    for (float const penalty : {0.25f, 0.5f, std::nanf("")})
      EXPECT_THROW(d.run({4, penalty}), std::runtime_error) << name;
    EXPECT_NO_THROW(d.run({4, 0.2499f})) << name;
  }
  EXPECT_THROW(sequential.run(m, {4, 0.25f}), std::runtime_error);
  EXPECT_NO_THROW(sequential.run(m, {4, 0.2499f}));
}

}  // namespace
