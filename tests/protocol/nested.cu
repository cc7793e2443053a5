// SPDX-License-Identifier: Apache-2.0
// Sections on two records of any two owners: each excludes on both.

#include "pairs.cuh"

#include <warden/simulation.hpp>

namespace {

using namespace pairs;

template <unsigned Locks, warden::placement Where>
struct policy : test::small<warden::default_policy> {
  using executor = warden::executor::runs<64, Locks>;
  static constexpr warden::placement records = Where;
};
template <class Policy>
using accounts = warden::basic_guarded<Policy, account, move, deposit>;

template <class Policy>
class nested : public testing::Test {};
/// With 64 locks, records of one owner share theirs.
using policies = testing::Types<policy<2048, warden::placement::in_memory>,
                                policy<2048, warden::placement::on_chip>,
                                policy<64, warden::placement::in_memory>>;
TYPED_TEST_SUITE(nested, policies);

TYPED_TEST(nested, of_any_owners) {
  for (unsigned const servers : {2u, 3u, 4u})
    check<accounts<TypeParam>>(moves(), 400, 400, by::block, {.servers = servers, .chunk = 1});
}
TYPED_TEST(nested, of_one_server) {
  check<accounts<TypeParam>>(moves(), 300, 300, by::block, {.servers = 1});
}
TYPED_TEST(nested, of_few_accounts) {
  std::uint32_t const n = moves() / 4;
  for (std::uint32_t const records : {1u, 2u, 5u, 8u}) {
    check<accounts<TypeParam>>(n, records, records, by::block, {.servers = 3, .chunk = 1});
    check<accounts<TypeParam>>(n, records, records, by::thread, {.servers = 2, .chunk = 2});
  }
}
TYPED_TEST(nested, by_every_client) {
  for (by const how : {by::thread, by::warp, by::call})
    check<accounts<TypeParam>>(moves(), 103, 103, how, {.servers = 3});
}
TYPED_TEST(nested, many_more_under_way_than_a_ring_holds) {
  check<accounts<TypeParam>>(moves(), 60, 60, by::block,
                             {.servers = 4, .capacity = 32, .forward_capacity = 32});
  check<accounts<TypeParam>>(moves() / 4, 4, 4, by::block,
                             {.servers = 4, .capacity = 32, .chunk = 1, .forward_capacity = 32});
}

/// Moves one account's balance into the other, if it is the larger: what it sees of both must be of
/// one moment.
struct book {
  std::uint64_t balance, moved;
};
struct sweep {
  static constexpr bool reads_other_memory = false;
  __device__ void operator()(book& from, book& to, warden::no_context) const {
    std::uint64_t const half = from.balance / 2;
    from.balance -= half;
    to.balance += half;
    from.moved += 1;
  }
};
struct sweep_all {
  std::uint32_t n, records;
  template <class Ref>
  __device__ void operator()(warden::client_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      client.send(test::id_of(2 * i, records), test::id_of(2 * i + 1, records), sweep{}, i < n);
    });
    client.flush();
  }
};
void sweep_once(std::uint32_t n, std::uint32_t records, warden::guarded_options options) {
  using guarded = warden::basic_guarded<policy<64, warden::placement::in_memory>, book, sweep>;
  warden::buffer<book> books{records};
  std::vector<book> const full(records, book{1'000'000, 0});
  warden::copy(books.data(), full.data(), records);
  guarded g{books, options};
  warden::launch_fused(sweep_all{n, records}, 3, 64, {}, g);
  ASSERT_NO_THROW(g.wait());
  std::uint64_t sum = 0, moved = 0;
  for (book const& b : books.to_host()) {
    sum += b.balance;
    moved += b.moved;
  }
  EXPECT_EQ(sum, records * 1'000'000ull);
  EXPECT_EQ(moved, n);
}
TEST(nested_sections, conserve_what_they_move) {
  sweep_once(moves(), 50, {.servers = 3});
  sweep_once(moves(), 2, {.servers = 2, .chunk = 1});
}

/// Two to four servers, two to eight records, under as many schedules as are asked for.
TEST(nested_sections, under_many_schedules) {
  if (!test::simulated()) GTEST_SKIP() << "schedules are the simulated device's";
  std::uint64_t const only = test::environment("WARDEN_SEED", 0);
  std::uint64_t const seeds = test::environment("WARDEN_SEEDS", 500);
  for (std::uint64_t seed = only != 0 ? only : 1;
       seed <= (only != 0 ? only : seeds) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("replay with --seed " + std::to_string(seed));
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    s.pct_horizon = 40'000;
    s.switches_per_drain = 1u << 2 * (seed % 3);
    s.multiprocessors = 3;
    warden::sim::configure(s);
    sweep_once(120, static_cast<std::uint32_t>(2 + seed % 7),
               {.servers = static_cast<unsigned>(2 + seed % 3),
                .capacity = 32,
                .chunk = seed % 5 == 0 ? 2u : 1u,
                .time_limit_seconds = 1,
                .forward_capacity = seed % 4 == 0 ? 64u : 32u});
    EXPECT_FALSE(warden::sim::last_report().deadlock);
  }
  warden::sim::configure({});
}

}  // namespace
