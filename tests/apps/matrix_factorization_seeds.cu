// SPDX-License-Identifier: Apache-2.0
// Rounds on chip under very many schedules: each rating's step is made once.

#include "apps/matrix_factorization/arms.cuh"
#include "apps/matrix_factorization/planted.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

/// Elements of each row that are what `ids` say.
std::vector<float> due(std::vector<std::uint32_t> const& ids, std::uint32_t rows, unsigned rank) {
  std::vector<float> all(std::size_t{rows} * rank);
  for (std::uint32_t const id : ids) {
    for (unsigned k = 0; k < rank; ++k) ++all[std::size_t{id} * rank + k];
  }
  return all;
}

TEST(matrix_factorization_seeds, each_step_is_made_once) {
  constexpr unsigned rank = 16;
  auto const list = factorization::planted_ratings({45, 7, 150, 38}, 1);
  auto const users = due(list.user, list.users, rank), items = due(list.item, list.items, rank);
  test::under_many_schedules(1, [&](std::uint64_t) {
    warden::buffer<float> user_rows{users.size()}, item_rows{items.size()};
    user_rows.fill_bytes(0);
    item_rows.fill_bytes(0);
    auto const arm =
        factorization::make_rounds_arm({&list, rank, 0, user_rows.data(), item_rows.data()});
    arm->count_async();
    arm->wait();
    EXPECT_TRUE(user_rows.to_host() == users) << "lost or doubled step of a user";
    EXPECT_TRUE(item_rows.to_host() == items) << "lost or doubled step of an item";
  });
}

TEST(matrix_factorization_seeds, a_refused_launch_is_no_epoch) {
  auto const list = factorization::planted_ratings({45, 7, 150, 38}, 1);
  warden::buffer<float> users{list.users * std::size_t{16}}, items{list.items * std::size_t{16}};
  auto const arm = factorization::make_rounds_arm({&list, 16, 0, users.data(), items.data()});
  warden::sim::configure({.refuse_blocks_over = 2});
  EXPECT_THROW(arm->count_async(), warden::limit_error);
  warden::sim::configure({});
}

}  // namespace
