// SPDX-License-Identifier: Apache-2.0
// Loops over records: each iteration calls a function.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/guarded_loop.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint32_t accounts = 10, n = 1000;

struct account {
  std::uint64_t balance, deposits;
  friend bool operator==(account const&, account const&) = default;
};
std::vector<std::uint32_t> some_ids() {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i) ids.push_back(i % 2 == 0 ? 7 : i * 3 % accounts);
  return ids;
}
std::vector<std::uint32_t> some_amounts() {
  std::vector<std::uint32_t> amounts;
  for (std::uint32_t i = 0; i < n; ++i) amounts.push_back(i * i % 1009);
  return amounts;
}

class guarded_loop : public testing::Test {
 protected:
  guarded_loop() { records.fill_bytes(0); }
  /// Runs a loop over all ids.
  template <class Loop>
  std::vector<account> found(Loop loop) {
    loop.apply_async(ids);
    loop.wait();
    return records.to_host();
  }
  /// Returns the records after `f(record, i, id)` for all ids in turn.
  template <class F>
  static std::vector<account> expected(F f) {
    std::vector<account> all(accounts);
    auto const listed = some_ids();
    for (std::uint32_t i = 0; i < n; ++i) f(all[listed[i]], i, listed[i]);
    return all;
  }
  warden::buffer<account> records{accounts};
  warden::buffer<std::uint32_t> const ids{some_ids()}, amounts{some_amounts()};
};

// In a function: nvcc takes no lambdas for the device in a test's body.
void pay(warden::buffer<account> const& records, warden::buffer<std::uint32_t> const& ids,
         std::uint32_t const* amounts) {
  auto loop = warden::make_guarded_loop(records, [=] __device__(account & a, std::uint32_t i) {
    a.balance += amounts[i];
    ++a.deposits;
  });
  loop.apply_async(ids);
  loop.wait();
}
TEST_F(guarded_loop, calls_a_lambda) {
  pay(records, ids, amounts.data());
  EXPECT_EQ(records.to_host(), expected([](account& a, std::uint32_t i, std::uint32_t) {
              a.balance += some_amounts()[i];
              ++a.deposits;
            }));
}

struct add_id {
  std::uint32_t factor;
  __device__ void operator()(account& a, std::uint32_t i, warden::record_id id) const {
    a.balance += factor * i + id;
  }
};
TEST_F(guarded_loop, passes_the_id) {
  EXPECT_EQ(
      found(warden::make_guarded_loop(records, add_id{3})),
      expected([](account& a, std::uint32_t i, std::uint32_t id) { a.balance += 3 * i + id; }));
}

/// Lane 1 updates the first member, and lane 3 the second one.
struct by_lanes {
  __device__ void operator()(account& a, std::uint32_t i,
                             warden::lane_group<4> const& group) const {
    if (group.lane() == 1) a.balance += i;
    if (group.lane() == 3) ++a.deposits;
  }
};
/// The same with the id.
struct by_lanes_with_id {
  __device__ void operator()(account& a, std::uint32_t i, warden::record_id id,
                             warden::lane_group<4> const& group) const {
    by_lanes{}(a, i + static_cast<std::uint32_t>(id), group);
  }
};
TEST_F(guarded_loop, groups_call_the_function) {
  EXPECT_EQ(found(warden::make_guarded_loop<4>(records, by_lanes{})),
            expected([](account& a, std::uint32_t i, std::uint32_t) {
              a.balance += i;
              ++a.deposits;
            }));
  records.fill_bytes(0);
  EXPECT_EQ(found(warden::make_guarded_loop<4>(records, by_lanes_with_id{})),
            expected([](account& a, std::uint32_t i, std::uint32_t id) {
              a.balance += i + id;
              ++a.deposits;
            }));
}

struct mix {
  __host__ __device__ void operator()(account& a, std::uint32_t i) const {
    a.balance = a.balance * 31 + i;
  }
};
TEST_F(guarded_loop, runs_in_the_order_of_the_policy) {
  using in_order = warden::policy<warden::options{}, warden::order::sequential>;
  EXPECT_EQ(found(warden::make_guarded_loop<1, in_order>(records, mix{})),
            expected([](account& a, std::uint32_t i, std::uint32_t) { mix{}(a, i); }));
}

TEST_F(guarded_loop, moves) {
  auto loop = warden::make_guarded_loop(records, add_id{1});
  loop = warden::make_guarded_loop(records, add_id{2});
  EXPECT_EQ(found(std::move(loop)), expected([](account& a, std::uint32_t i, std::uint32_t id) {
              a.balance += 2 * i + id;
            }));
}

// ---- loops over rows

constexpr unsigned width = 20, values_width = 24, lanes = 4;
using row = warden::elements<std::uint32_t, width>;
using value = warden::elements<std::uint16_t, values_width>;
using row_part = warden::row_part<std::uint32_t, width, lanes>;
using value_part = warden::row_part<std::uint16_t, values_width, lanes>;
using row_group = warden::lane_group<lanes>;

std::vector<value> some_values() {
  std::vector<value> values(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (unsigned k = 0; k < values_width; ++k)
      values[i][k] = static_cast<std::uint16_t>(test::mix(i * values_width + k));
  }
  return values;
}
struct rows_and_states {
  std::vector<row> rows;
  std::vector<std::uint64_t> states;
};
/// Returns the result of `f(row, state, value)` for all ids in turn.
template <class F>
rows_and_states loop_over_rows(F f) {
  rows_and_states all{std::vector<row>(accounts), std::vector<std::uint64_t>(accounts)};
  auto const ids = some_ids();
  auto const values = some_values();
  for (std::uint32_t i = 0; i < n; ++i) f(all.rows[ids[i]], all.states[ids[i]], values[i]);
  return all;
}
/// Expects the result of a loop over rows that calls `f`.
template <class Policy, class Function>
void expect_rows(rows_and_states const& expected, Function const& f) {
  warden::buffer<row> rows{accounts};
  warden::buffer<std::uint64_t> states{accounts};
  rows.fill_bytes(0);
  states.fill_bytes(0);
  warden::buffer<value> const values{some_values()};
  auto loop = warden::make_row_loop<lanes, Policy>(rows, states, values, f);
  loop.apply_async(warden::buffer<std::uint32_t>{some_ids()});
  loop.wait();
  auto const found = rows.to_host();
  for (std::uint32_t a = 0; a < accounts; ++a) {
    for (unsigned k = 0; k < width; ++k)
      ASSERT_EQ(found[a][k], expected.rows[a][k]) << "row " << a << ", element " << k;
  }
  EXPECT_EQ(states.to_host(), expected.states);
}

/// Adds the sum of the values to the state, and to each element of the row its number.
struct add_values {
  std::uint64_t factor;
  __device__ static std::uint64_t prepare(value_part const& v, row_group const& group) {
    std::uint64_t sum = 0;
    for (unsigned k = 0; k < value_part::size; ++k) sum += v[k];
    return group.reduce(sum, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  __device__ void operator()(row_part& r, std::uint64_t& state, value_part const&,
                             std::uint64_t sum, row_group const& group) const {
    state += factor * sum;
    for (unsigned k = 0; k < row_part::size; ++k) r[k] += row_part::column(k, group);
  }
};
/// Depends on the order of the iterations. The elements of both parts have the same columns.
struct mix_values {
  static_assert(row_part::piece == value_part::piece);
  __device__ void operator()(row_part& r, std::uint64_t& state, value_part const& v) const {
    ++state;
    for (unsigned k = 0; k < row_part::size; ++k) r[k] = r[k] * 3 + v[k];
  }
};
TEST(row_loop, prepares_and_passes_the_group) {
  expect_rows<warden::policy<>>(loop_over_rows([](row& r, std::uint64_t& state, value const& v) {
                                  for (unsigned k = 0; k < values_width; ++k) state += 3 * v[k];
                                  for (unsigned k = 0; k < width; ++k) r[k] += k;
                                }),
                                add_values{3});
}
TEST(row_loop, runs_in_the_order_of_the_policy) {
  using in_order = warden::policy<warden::options{}, warden::order::sequential>;
  expect_rows<in_order>(loop_over_rows([](row& r, std::uint64_t& state, value const& v) {
                          ++state;
                          for (unsigned k = 0; k < width; ++k) r[k] = r[k] * 3 + v[k];
                        }),
                        mix_values{});
}
TEST(row_loop, needs_a_state_for_each_row) {
  warden::buffer<row> rows{accounts};
  warden::buffer<std::uint64_t> states{accounts - 1};
  warden::buffer<value> const values{n};
  EXPECT_THAT(
      test::refusal(
          [&] { (void)warden::make_row_loop<lanes>(rows, states, values, mix_values{}); }),
      testing::HasSubstr("make_row_loop: " + std::to_string(accounts) + " rows and " +
                         std::to_string(accounts - 1) + " states; give a state for each row"));
}

}  // namespace
