// SPDX-License-Identifier: Apache-2.0
// Ready-made sections: add and aggregate, in bulk, through a log, and in trees.

#include "tests/protocol/word_sums.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/sections.cuh>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

constexpr std::uint32_t groups = 10, n = 3000;
using repeatable = warden::policy<warden::options{}, warden::order::deterministic>;
/// Through a log, because order::sequential does not combine.
using sequential = warden::policy<warden::options{}, warden::order::sequential>;

std::vector<std::uint32_t> some_ids() {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i) ids.push_back(i % 2 == 0 ? 7 : i % groups);
  return ids;
}

// ---- aggregate

struct statistic {
  unsigned __int128 sum;
  std::uint64_t rows;
  std::int16_t least, most;
  friend bool operator==(statistic const&, statistic const&) = default;
};
using of_a_number =
    warden::aggregate<int, warden::sum<&statistic::sum>, warden::count<&statistic::rows>,
                      warden::minimum<&statistic::least>, warden::maximum<&statistic::most>>;
static_assert(sizeof(of_a_number) == 4 && alignof(warden::partial_of<of_a_number>) == 8);
static_assert(sizeof(warden::partial_of<warden::aggregate<int, warden::sum<&statistic::sum>,
                                                          warden::count<&statistic::rows>>>) == 24);

/// Returns values from -300 to 299, in no order.
std::vector<int> some_numbers() {
  std::vector<int> numbers;
  for (std::uint32_t i = 0; i < n; ++i) numbers.push_back(static_cast<int>(i * 7919 % 600) - 300);
  return numbers;
}
std::vector<statistic> const empty(groups, statistic{5, 6, 1000, -1000});
std::vector<statistic> expected_statistics() {
  std::vector<statistic> all = empty;
  auto const ids = some_ids();
  auto const numbers = some_numbers();
  for (std::uint32_t i = 0; i < n; ++i) {
    statistic& s = all[ids[i]];
    s.sum += static_cast<unsigned __int128>(numbers[i]);
    ++s.rows;
    s.least = std::min(s.least, static_cast<std::int16_t>(numbers[i]));
    s.most = std::max(s.most, static_cast<std::int16_t>(numbers[i]));
  }
  return all;
}

template <class Policy>
class aggregates : public testing::Test {};
using policies = testing::Types<warden::policy<>, repeatable, sequential>;
TYPED_TEST_SUITE(aggregates, policies);

TYPED_TEST(aggregates, each_field_is_that_of_a_loop) {
  warden::buffer<statistic> records{empty};
  warden::basic_guarded<TypeParam, statistic, of_a_number> all{records};
  warden::buffer<std::uint32_t> const ids{some_ids()};
  warden::buffer<int> const numbers{some_numbers()};
  all.apply_async(ids, numbers);
  all.wait();
  EXPECT_EQ(records.to_host(), expected_statistics());
}

using table = warden::guarded<statistic, of_a_number>;
__global__ void send_numbers(table::deferred_ref all, std::uint32_t const* ids,
                             int const* numbers) {
  using client = table::deferred_block<64>;
  WARDEN_SHARED(client::storage, storage);
  client by_block{all, storage};
  by_block.for_each(n, [&](std::uint64_t i) {
    return warden::to{ids[i], of_a_number{numbers[i]}};
  });
}
TEST(aggregate, combines_in_a_log) {
  static_assert(table::deferred_ref::combines);
  warden::buffer<statistic> records{empty};
  table all{records};
  warden::buffer<std::uint32_t> const ids{some_ids()};
  warden::buffer<int> const numbers{some_numbers()};
  warden::deferred log{all, n};
  warden::launch(&send_numbers, 4, 64, {}, log.ref(), ids.data(), numbers.data());
  log.run();
  all.wait();
  EXPECT_EQ(records.to_host(), expected_statistics());
}

TYPED_TEST(aggregates, sum_integers_of_all_sizes) {
  for (std::uint32_t const records : {1u, 10u, 200u, 6000u}) {
    word_sums::expect_as_in_a_loop<TypeParam>(word_sums::some_ids(n, records, 40), records);
  }
}
/// A table has room for fewer than 30,000 records, so the run has parts.
TEST(aggregate, sums_integers_of_records_in_parts) {
  word_sums::expect_as_in_a_loop<warden::policy<>>(word_sums::some_ids(20'000, 30'000, 40), 30'000);
}
/// Fields that atomics cannot add are combined.
TEST(aggregate, adds_words_of_integers_alone) {
  using warden::detail::sums_words;
  static_assert(sums_words<warden::partial_of<word_sums::section>>);
  static_assert(!sums_words<warden::partial_of<of_a_number>>);
  struct prices {
    float sum;
  };
  static_assert(
      !sums_words<warden::partial_of<warden::aggregate<float, warden::sum<&prices::sum>>>>);
  // A word for each byte would take 4 times the memory.
  struct bytes {
    std::uint8_t a, b, c;
  };
  using of_bytes = warden::aggregate<int, warden::sum<&bytes::a>, warden::sum<&bytes::b>,
                                     warden::count<&bytes::c>>;
  static_assert(!sums_words<warden::partial_of<of_bytes>>);
}

struct order_line {
  float price;
  std::uint32_t pieces;
};
struct customer {
  float dearest, cheapest;
  std::uint64_t pieces;
};
TEST(aggregate, reads_members_of_a_value_and_skips_nan) {
  using by_customer =
      warden::aggregate<order_line, warden::maximum<&customer::dearest, &order_line::price>,
                        warden::minimum<&customer::cheapest, &order_line::price>,
                        warden::sum<&customer::pieces, &order_line::pieces>>;
  float const nan = std::numeric_limits<float>::quiet_NaN();
  warden::buffer<customer> records{std::vector<customer>(groups, {nan, nan, 0})};
  warden::guarded<customer, by_customer> all{records};
  std::vector<order_line> lines;
  for (std::uint32_t i = 0; i < n; ++i)
    lines.push_back({i % 3 == 0 ? nan : static_cast<float>(i), i % 5});
  all.apply_async(warden::buffer<std::uint32_t>{some_ids()}, warden::buffer<order_line>{lines});
  all.wait();
  auto const found = records.to_host();
  std::vector<customer> expected(groups, {-1, n, 0});
  auto const ids = some_ids();
  for (std::uint32_t i = 0; i < n; ++i) {
    customer& c = expected[ids[i]];
    c.pieces += lines[i].pieces;
    if (std::isnan(lines[i].price)) continue;
    c.dearest = std::max(c.dearest, lines[i].price);
    c.cheapest = std::min(c.cheapest, lines[i].price);
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    EXPECT_EQ(found[g].pieces, expected[g].pieces);
    if (expected[g].pieces == 0) continue;
    EXPECT_EQ(found[g].dearest, expected[g].dearest) << g;
    EXPECT_EQ(found[g].cheapest, expected[g].cheapest) << g;
  }
}

// ---- add

static_assert(alignof(warden::elements<float, 1>) == 4 && alignof(warden::elements<float, 6>) == 8);
static_assert(alignof(warden::elements<float, 8>) == 16 &&
              sizeof(warden::elements<float, 8>) == 32);

TEST(add, numbers) {
  warden::buffer<std::uint64_t> records{std::vector<std::uint64_t>(groups, 3)};
  warden::guarded<std::uint64_t, warden::add<std::uint64_t>> sums{records};
  sums.apply_async(warden::buffer<std::uint32_t>{some_ids()},
                   warden::buffer<std::uint64_t>{std::vector<std::uint64_t>(n, 1ull << 40)});
  sums.wait();
  std::vector<std::uint64_t> expected(groups, 3);
  for (std::uint32_t const id : some_ids()) expected[id] += 1ull << 40;
  EXPECT_EQ(records.to_host(), expected);
}

/// Adds rows of N elements with `Policy`, and compares each element with a loop's.
template <class Policy, class T, unsigned N>
void expect_sums_of_rows() {
  using row = warden::elements<T, N>;
  std::vector<row> rows(n), expected(groups);
  auto const ids = some_ids();
  for (std::uint32_t i = 0; i < n; ++i) {
    for (unsigned k = 0; k < N; ++k) rows[i][k] = static_cast<T>(i % 100 * N + k);
    expected[ids[i]] += rows[i];
  }
  warden::buffer<row> records{groups};
  records.fill_bytes(0);
  warden::basic_guarded<Policy, row, warden::add<row>> sums{records};
  sums.apply_async(warden::buffer<std::uint32_t>{ids}, warden::buffer<row>{rows});
  sums.wait();
  auto const found = records.to_host();
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (unsigned k = 0; k < N; ++k) EXPECT_EQ(found[g][k], expected[g][k]) << N << ' ' << k;
  }
}
TEST(add, rows_that_fit_a_message) {
  expect_sums_of_rows<warden::policy<>, float, 1>();
  expect_sums_of_rows<warden::policy<>, std::uint64_t, 5>();
  expect_sums_of_rows<repeatable, float, 11>();
}
TEST(add, rows_that_lanes_share) {
  expect_sums_of_rows<repeatable, float, 12>();
  expect_sums_of_rows<repeatable, float, 64>();
  expect_sums_of_rows<repeatable, double, 128>();
}

}  // namespace
