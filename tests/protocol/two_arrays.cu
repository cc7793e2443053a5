// SPDX-License-Identifier: Apache-2.0
// Deferred sections between the records of two arrays: which tiles meet when, and that each section
// runs once, isolated, whichever of the arrays is larger.

#include "tests/protocol/two_arrays.cuh"

#include <warden/detail/pairs/two_array_schedule.cuh>

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace {

namespace simt = warden::simt;
using two_arrays::account;
using two_arrays::bench;
using two_arrays::count_up;
using two_arrays::kind;
using two_arrays::small_blocks;
using two_arrays::user;
using warden::placement;
using warden::detail::two_array_schedule;

// ---- pair schedule

void expect_each_pair_once(std::uint32_t firsts, std::uint32_t seconds) {
  SCOPED_TRACE(testing::Message() << firsts << " x " << seconds);
  two_array_schedule const all{firsts, seconds};
  std::set<std::pair<std::uint32_t, std::uint32_t>> met;
  std::uint32_t number = 0;
  for (std::uint32_t r = 0; r < all.rounds(); ++r) {
    std::set<std::uint32_t> paired;
    for (std::uint32_t i = 0; i < all.pairs_at_once(); ++i, ++number) {
      auto const pair = all.pair(number);
      ASSERT_LT(pair.a, firsts);
      ASSERT_GE(pair.b, firsts);
      ASSERT_LT(pair.b, all.tiles());
      ASSERT_TRUE(paired.insert(pair.a).second) << "round " << r;
      ASSERT_TRUE(paired.insert(pair.b).second) << "round " << r;
      ASSERT_TRUE(met.insert({pair.a, pair.b}).second) << "round " << r;
      // Each tile knows its partner in each round.
      ASSERT_EQ(all.round_of(pair.a, pair.b), r);
      for (bool const is_a : {true, false}) {
        auto const tile_pair = all.tile_pair(is_a ? pair.a : pair.b, r);
        ASSERT_TRUE(tile_pair.exists);
        ASSERT_EQ(tile_pair.number, number);
        ASSERT_EQ(tile_pair.is_a, is_a);
      }
    }
    for (std::uint32_t p = 0; p < all.tiles(); ++p)
      ASSERT_EQ(all.tile_pair(p, r).exists, paired.count(p) == 1) << "round " << r << " tile " << p;
  }
  EXPECT_EQ(met.size(), std::size_t{firsts} * seconds);
  EXPECT_EQ(number, all.tile_pairs());
}
TEST(two_array_schedule, every_pair_meets_once_and_no_tile_is_used_twice_in_a_round) {
  for (std::uint32_t firsts = 1; firsts <= 20; ++firsts)
    for (std::uint32_t seconds = 1; seconds <= 20; ++seconds)
      expect_each_pair_once(firsts, seconds);
  expect_each_pair_once(64, 5);
  expect_each_pair_once(7, 128);
}
TEST(two_array_schedule, meets_in_no_direction) {
  // Number of tiles by which a tile advances from round to round. In the order of numbers it is
  // always one.
  constexpr std::uint32_t tiles = 128;
  two_array_schedule const all{tiles, tiles};
  std::map<std::uint32_t, std::uint32_t> steps;
  for (std::uint32_t r = 0; r + 1 < tiles; ++r) {
    auto const met = [&](std::uint32_t round) { return all.pair(round * tiles).b; };
    ++steps[(met(r + 1) + tiles - met(r)) % tiles];
  }
  for (auto const& [step, times] : steps) EXPECT_LE(times, tiles / 4) << step;
}
static_assert(two_array_schedule{3, 5}.rounds() == 5 && two_array_schedule{5, 3}.rounds() == 5);

// ---- what runs

template <class Policy>
class two_arrays_by : public testing::Test {};
using policies = testing::Types<small_blocks<>, small_blocks<placement::on_chip>,
                                small_blocks<placement::in_memory, 64>>;
TYPED_TEST_SUITE(two_arrays_by, policies);

TYPED_TEST(two_arrays_by, every_section_runs_once) {
  std::uint32_t const most = test::sized(2000u, 400'000u);
  struct sizes {
    std::uint32_t users, items;
  };
  struct tiles {
    unsigned users, items;
  };
  std::uint32_t const many = test::on_chip(2000u, 500u);
  for (sizes const s :
       {sizes{1, 1}, sizes{1, 37}, sizes{37, 1}, sizes{3, many}, sizes{many, 3}, sizes{1000, 39}}) {
    for (std::uint32_t const n : {1u, 31u, most}) {
      for (tiles const p : {tiles{1, 1}, tiles{2, 8}, tiles{8, 2}, tiles{4, 0}}) {
        SCOPED_TRACE(testing::Message() << s.users << " users, " << s.items << " items, " << n
                                        << " ratings, " << p.users << " x " << p.items);
        bench<TypeParam> b{s.users, s.items};
        auto later = b.make(n, p.users, p.items);
        b.send_alone(later, 0, n / 2);
        b.send_together(later, n / 2, n, 3);
        later.run();
        b.wait();
        b.expect_ran(n);
        EXPECT_EQ(b.refused(), 0u);
      }
    }
  }
}

using by_default = small_blocks<>;

TEST(two_arrays, partitions_by_default) {
  std::uint32_t const n = test::sized(1000u, 1'000'000u), many = test::sized(3000u, 1'000'000u);
  for (std::uint32_t const users : {5u, 1000u, many}) {
    for (std::uint32_t const items : {7u, many}) {
      bench<by_default> b{users, items};
      auto later = b.make(n);
      b.send_together(later, 0, n, 4);
      later.run();
      b.wait();
      b.expect_ran(n);
    }
  }
}

TEST(two_arrays, a_few_hot_records) {
  std::uint32_t const n = test::sized(2000u, 400'000u);
  for (std::uint32_t const users : {1u, 3u, 300u}) {
    for (std::uint32_t const items : {1u, 2u, 200u}) {
      bench<by_default> b{300, 200, kind::ratings, users, items};
      auto later = b.make(n, 4);
      b.send_together(later, 0, n, 3);
      later.run();
      b.wait();
      b.expect_ran(n);
    }
  }
}

/// One of the two arrays has records that no runner holds in registers.
TEST(two_arrays, large_records_run) {
  std::uint32_t const n = test::sized(1000u, 100'000u);
  for (std::uint32_t const hot : {1u, 40u}) {
    bench<by_default, two_arrays::large_item, small_blocks<placement::on_chip>> b{
        50, 40, kind::ratings, ~0u, hot};
    auto later = b.make(n, 2);
    b.send_together(later, 0, n, 3);
    later.run();
    b.wait();
    b.expect_ran(n);
  }
}

TEST(two_arrays, no_section_sees_another_one_half_done) {
  std::uint32_t const n = test::sized(2000u, 400'000u);
  for (std::uint32_t const records : {1u, 10u, 64u}) {
    bench<by_default> b{records, records, kind::looks};
    auto later = b.make(n, 2, 4);
    b.send_alone(later, 0, n);
    later.run();
    b.wait();
    // Ratings add values that looks do not count: undo the ratings.
    auto users = b.user_records();
    for (std::uint32_t i = 0; i < n; i += 2) {
      auto const o = two_arrays::operation::of(i, records, records);
      users[o.user].mixed -= test::mix(o.stars);
    }
    for (user const& u : users) EXPECT_EQ(u.mixed, 0u) << "a look saw half a rating";
    EXPECT_EQ(b.rated(), n / 2);
    EXPECT_EQ(b.visits(users), n / 2);
    EXPECT_EQ(b.visits(b.item_records()), n / 2);
  }
}

// ---- what a section is handed

struct fee {
  std::uint32_t share;
};
struct tariff {
  std::uint64_t* sum;
};
using of_users = warden::with_parts<by_default, warden::context<fee>>;
using of_items = warden::with_parts<by_default, warden::context<tariff>>;
struct pay {
  std::uint32_t amount;
  __device__ void operator()(account& a, account& b, fee const& f, tariff const& t) const {
    a.sum += amount;
    b.sum += amount + f.share;
    simt::fetch_add(t.sum, std::uint64_t{f.share});
  }
};
struct pay_once {
  __device__ void operator()(account& a, account& b, fee const& f) const {
    a.sum += f.share;
    b.sum += 1;
  }
};
struct swap_sums {
  __device__ void operator()(account& a, account& b) const {
    std::uint64_t const sum = a.sum;
    a.sum = b.sum;
    b.sum = sum;
  }
};
using payers = warden::basic_guarded<of_users, account, count_up>;
using payees = warden::basic_guarded<of_items, account, count_up>;
using payments = warden::deferred_between<payers, payees, pay, pay_once, swap_sums>;

WARDEN_KERNEL void send_payments(payments::ref_type ref) {
  std::uint32_t const i = simt::thread_rank();
  if (i < 30) ref.send(i, i % 3, pay{i});
  if (i < 20) ref.send(0, 2, pay_once{});
}
WARDEN_KERNEL void send_swap(payments::ref_type ref) {
  if (simt::thread_rank() == 0) ref.send(29, 0, swap_sums{});
}
/// Two arrays of one type, and contexts of both guarded arrays, of the first or of none.
TEST(two_arrays, sections_are_handed_the_contexts_that_they_take) {
  warden::buffer<account> from{30}, to{3};
  warden::buffer<std::uint64_t> sum{1};
  from.fill_bytes(0);
  to.fill_bytes(0);
  sum.fill_bytes(0);
  payers a{from, fee{7}};
  payees b{to, tariff{sum.data()}};
  payments later{a, b, 100};
  simt::launch(&send_payments, 1, 32, 0, later.ref(), {});
  later.run();
  simt::launch(&send_swap, 1, 32, 0, later.ref(), {});
  later.run();
  a.wait();
  b.wait();
  EXPECT_EQ(sum.to_host()[0], 30u * 7);
  auto const paid = from.to_host(), got = to.to_host();
  EXPECT_EQ(paid[0].sum, 20u * 7);
  for (std::uint32_t i = 1; i < 29; ++i) EXPECT_EQ(paid[i].sum, i);
  std::uint64_t wanted[3] = {0, 0, 20};
  for (std::uint32_t i = 0; i < 30; ++i) wanted[i % 3] += i + 7;
  EXPECT_EQ(paid[29].sum, wanted[0]) << "swapped";
  EXPECT_EQ(got[0].sum, 29u) << "swapped";
  EXPECT_EQ(got[1].sum, wanted[1]);
  EXPECT_EQ(got[2].sum, wanted[2]);
}

}  // namespace
