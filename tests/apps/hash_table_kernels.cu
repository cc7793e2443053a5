// SPDX-License-Identifier: Apache-2.0
// Operations that plain kernels defer: by threads and blocks, any section, in order.

#include "apps/hash_table/table.cuh"
#include "tests/apps/account_fixture.cuh"
#include "tests/apps/contents.cuh"
#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using test::account;
using test::contents;
using test::make_withdrawals;
using test::reset;
using test::withdraw;
using testing::HasSubstr;
namespace simt = warden::simt;

using key = std::uint64_t;

// ---- the named operations, by threads and by blocks

using table = hash_table::table<key, unsigned>;
using by_locks = hash_table::table_by<warden::executor::locks<>, key, unsigned>;

/// Thread i adds i to key i mod 10 and inserts a key of its own; every third erases it again in a
/// later launch.
template <class Ref>
WARDEN_KERNEL void by_threads(Ref table, unsigned n, bool erases) {
  unsigned const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= n) return;
  if (erases) {
    if (i % 3 == 0) table.erase(1000 + i);
    return;
  }
  table.add(i % 10, i);
  table.insert(1000 + i, i);
}
template <class Table>
WARDEN_KERNEL void by_blocks(typename Table::ref_type table, unsigned n, bool erases) {
  using block = typename Table::template block<64>;
  block client{table, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  unsigned const step = simt::block_count() * simt::block_threads();
  for (unsigned first = simt::block_rank() * simt::block_threads(); first < n; first += step) {
    unsigned const i = first + simt::thread_rank();
    if (erases) {
      client.erase(1000 + i, i < n && i % 3 == 0);
    } else {
      client.add(i % 10, i, i < n);
      client.insert(1000 + i, i, i < n);
    }
  }
  client.flush();
}

template <class Table>
class every_deferred_table : public testing::Test {};
using deferred_tables = testing::Types<table, by_locks>;
TYPED_TEST_SUITE(every_deferred_table, deferred_tables);

template <class Table, class Launch>
void expect_operations(Launch launch) {
  unsigned const n = test::sized(400u, 40'000u);
  // Few buckets: most keys overflow.
  Table t{{.buckets = n / 40, .capacity = n + 10}};
  launch(t, n, false);
  t.run();
  launch(t, n, true);
  t.run();
  t.wait();
  std::map<key, unsigned> wanted;
  for (unsigned i = 0; i < n; ++i) {
    wanted[i % 10] += i;
    if (i % 3 != 0) wanted[1000 + i] = i;
  }
  EXPECT_EQ((contents<key, unsigned>(t, n + 10)), wanted);
  auto const counts = t.counts();
  EXPECT_EQ(counts.inserted, n + 10);
  EXPECT_EQ(counts.updated, n - 10);
  EXPECT_EQ(counts.erased, (n + 2) / 3);
  EXPECT_EQ(counts.present + counts.absent + counts.refused, 0u);
}
TYPED_TEST(every_deferred_table, threads_send_operations) {
  expect_operations<TypeParam>([](TypeParam& t, unsigned n, bool erases) {
    using ref = typename TypeParam::ref_type;
    warden::launch(by_threads<ref>, n / 64 + 1, 64, {}, t.ref(2 * n), n, erases);
  });
}
TYPED_TEST(every_deferred_table, blocks_send_operations) {
  expect_operations<TypeParam>([](TypeParam& t, unsigned n, bool erases) {
    warden::launch(by_blocks<TypeParam>,
                   {3, 64, sizeof(typename TypeParam::template block<64>::storage)}, {},
                   t.ref(2 * n), n, erases);
  });
}

TEST(hash_table_kernels, a_full_log_is_reported) {
  table t{{.capacity = 10'000}};
  std::size_t const room = 4096;
  auto const ref = t.ref(room);
  warden::launch(by_threads<table::ref_type>, 65, 64, {}, ref, 65u * 64u, false);
  t.run();
  try {
    t.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr(std::to_string(2 * 65 * 64 - room)));
  }
  auto const counts = t.counts();
  EXPECT_EQ(counts.inserted + counts.updated, room);
}

// ---- any section

using accounts = hash_table::table<std::uint32_t, account>;

template <class Table>
class every_table_of_accounts : public testing::Test {};
using in_order = warden::with_parts<hash_table::table_policy, warden::order::sequential>;
using ordered_accounts =
    hash_table::table<std::uint32_t, account, hash_table::integer_keys<std::uint32_t>, in_order>;
using tables_of_accounts =
    testing::Types<accounts,
                   hash_table::table_by<warden::executor::locks<>, std::uint32_t, account>,
                   ordered_accounts>;
TYPED_TEST_SUITE(every_table_of_accounts, tables_of_accounts);

TYPED_TEST(every_table_of_accounts, a_value_of_24_bytes_changes_under_a_condition) {
  std::uint32_t const people = test::sized(37u, 1'000u), n = people * 20;
  TypeParam t{{.buckets = people / 3, .capacity = people}};
  t.run_async(make_withdrawals{people}, n);
  t.wait();
  auto const all = contents<std::uint32_t, account>(t, people);
  ASSERT_EQ(all.size(), people);
  for (auto const& [k, w] : all) {
    ASSERT_EQ(w.changes + w.refused, 20u) << "lost or doubled";
    ASSERT_GE(w.balance, 0);
    ASSERT_LE(w.balance, 100);
  }
}

/// The result is that of a sequential loop.
TEST(hash_table_kernels, operations_in_order_do_what_a_loop_does) {
  std::uint32_t const people = test::sized(11u, 1'000u), n = people * 100;
  ordered_accounts t{{.capacity = people}};
  // In several pieces, and with others in between.
  std::uint32_t const half = n / 2;
  make_withdrawals const make{people};
  t.run_async(make, half);
  t.run_async(make_withdrawals{people, half}, n - half);
  t.wait();
  std::map<std::uint32_t, account> wanted;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const s = make.of(i);
    auto& w = wanted.try_emplace(s.key, account{100, 0, 0}).first->second;
    bool const enough = w.balance >= s.amount;
    if (enough) w.balance -= s.amount;
    (enough ? w.changes : w.refused) += 1;
  }
  auto const all = contents<std::uint32_t, account>(t, people);
  ASSERT_EQ(all.size(), wanted.size());
  for (auto const& [k, w] : wanted) {
    EXPECT_EQ(all.at(k).balance, w.balance) << "account " << k;
    EXPECT_EQ(all.at(k).changes, w.changes) << "account " << k;
    EXPECT_EQ(all.at(k).refused, w.refused) << "account " << k;
  }
}

/// Several types in one log, two of them the user's.
using account_log = hash_table::operation_log<accounts, withdraw, reset, accounts::section::erase>;
WARDEN_KERNEL void mixed(account_log::ref_type later, std::uint32_t n) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i >= n) return;
  if (i % 3 == 0) later.send(reset{i});
  if (i % 3 == 1) later.send(accounts::section::erase{i});
  if (i % 3 == 2) later.send(withdraw{i, 1});
}
TEST(hash_table_kernels, a_log_of_sections_of_ones_own) {
  std::uint32_t const n = test::sized(300u, 10'000u);
  accounts t{{.capacity = n}};
  t.run_async(make_withdrawals{n}, n);
  account_log later{t, n};
  EXPECT_TRUE(later.is_on_chip());
  warden::launch(mixed, n / 64 + 1, 64, {}, later.ref(), n);
  later.run();
  later.wait();
  t.wait();
  std::map<std::uint32_t, account> wanted;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto const s = make_withdrawals{n}.of(i);
    wanted[s.key] = {100 - s.amount, 1, 0};
  }
  auto const all = contents<std::uint32_t, account>(t, n);
  for (std::uint32_t k = 0; k < n; ++k) {
    ASSERT_EQ(all.contains(k), k % 3 != 1);
    if (k % 3 == 0) {
      ASSERT_EQ(all.at(k).balance, -1);
    }
    if (k % 3 == 2) {
      ASSERT_EQ(all.at(k).changes + all.at(k).refused, 2u);
    }
  }
}

// ---- what repeats

using counting = hash_table::table<std::uint32_t, unsigned>;
/// An operation that runs by itself.
template <class Section>
struct single : Section {
  static constexpr bool combines = false;
};
/// The operations that were run, of `n` on keys of which some are hot.
std::uint64_t expect_hot_keys(std::uint32_t n) {
  std::uint32_t const distinct = 600;
  std::vector<std::uint32_t> keys(n);
  std::map<std::uint32_t, unsigned> wanted;
  for (std::uint32_t i = 0; i < n; ++i) {
    keys[i] = i % 5 == 0 ? i * 7919 % distinct : i % 3;
    wanted[keys[i]] += 1 + 10;
  }
  warden::buffer<std::uint32_t> const device_keys{keys};
  counting t{{.capacity = distinct}};
  t.count_async(device_keys.data(), n);
  t.add_async(device_keys.data(), 10, n);
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, distinct)), wanted);
  auto const counts = t.counts();
  EXPECT_EQ(counts.inserted, wanted.size());
  // The others as well.
  warden::buffer<unsigned> const values{std::vector<unsigned>(n, 7)};
  t.insert_or_assign_async(device_keys.data(), values.data(), n);
  t.wait();
  for (auto const& [k, v] : contents<std::uint32_t, unsigned>(t, distinct)) EXPECT_EQ(v, 7u) << k;
  t.erase_async(device_keys.data(), n);
  t.insert_async(device_keys.data(), values.data(), n);
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, distinct)).size(), wanted.size());
  EXPECT_EQ(t.counts().erased, wanted.size());
  return counts.inserted + counts.updated;
}
TEST(hash_table_kernels, what_repeats_is_combined) {
  std::uint32_t const n = test::sized(20'000u, 1'000'000u);
  EXPECT_LT(expect_hot_keys(n), n);
}

struct count_one_by_one {
  __device__ single<counting::section::count> operator()(std::uint32_t i) const {
    return {{i % 3}};
  }
};
TEST(hash_table_kernels, operations_that_decline_are_not_combined) {
  counting t{{.capacity = 3}};
  t.run_async(count_one_by_one{}, 3000);
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, 3)),
            (std::map<std::uint32_t, unsigned>{{0, 1000}, {1, 1000}, {2, 1000}}));
  EXPECT_EQ(t.counts().inserted + t.counts().updated, 3000u);
}

TEST(hash_table_kernels, the_key_that_no_slot_takes) {
  using hash_table::kept_key;
  using small = hash_table::table<std::uint32_t, unsigned>;
  std::uint32_t const zero = kept_key<std::uint32_t>::zero_key;
  std::vector<std::uint32_t> const keys{zero, 0, 1, zero, zero, 0};
  warden::buffer<std::uint32_t> const device_keys{keys};
  small t{{.capacity = 10}};
  t.count_async(device_keys.data(), 6);      // by atomics
  t.add_async(device_keys.data(), 5, 2);     // by atomics
  t.erase_async(device_keys.data() + 1, 1);  // by runs
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, 10)),
            (std::map<std::uint32_t, unsigned>{{zero, 8}, {1, 1}}));
  t.erase_async(device_keys.data(), 1);
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, 10)),
            (std::map<std::uint32_t, unsigned>{{1, 1}}));
}

/// Atomics in buckets from which keys were erased, from slots and nodes.
TEST(hash_table_kernels, atomics_after_gaps) {
  using small = hash_table::table<std::uint32_t, unsigned>;
  small t{{.buckets = 2, .capacity = 80}};
  std::vector<std::uint32_t> keys(80);
  for (std::uint32_t i = 0; i < 80; ++i) keys[i] = i;
  warden::buffer<std::uint32_t> const device_keys{keys};
  std::map<std::uint32_t, unsigned> wanted;
  auto const count = [&](std::uint32_t first, std::uint32_t n) {
    t.count_async(device_keys.data() + first, n);
    for (std::uint32_t i = first; i < first + n; ++i) ++wanted[i];
  };
  auto const erase = [&](std::uint32_t first, std::uint32_t n) {
    t.erase_async(device_keys.data() + first, n);
    for (std::uint32_t i = first; i < first + n; ++i) wanted.erase(i);
  };
  count(0, 60);
  erase(5, 20);
  count(0, 80);
  erase(50, 30);
  erase(0, 3);
  count(0, 60);
  t.wait();
  EXPECT_EQ((contents<std::uint32_t, unsigned>(t, 80)), wanted);
}

// A section with a combine key combines by it, unless the table has other sections or an order.
template <class Table, class... Sections>
inline constexpr bool combines =
    hash_table::detail::log_combines<typename Table::policy, typename Table::bucket_type,
                                     typename Table::context, Sections...>;
static_assert(combines<counting, counting::section::count>);
static_assert(combines<counting, counting::section::erase>);
static_assert(!combines<counting, counting::section::erase, counting::section::add>);
static_assert(!combines<counting, single<counting::section::count>>);
static_assert(!combines<table, table::section::count>);      // 8 bytes
static_assert(!combines<accounts, accounts::section::add>);  // has no +=
static_assert(!combines<ordered_accounts, ordered_accounts::section::insert>);

// A section that is alone in its log and can run as an atomic does.
template <class Table, class Section>
using executor_of =
    typename hash_table::detail::log_executor<typename Table::policy, typename Table::bucket_type,
                                              typename Table::context, Section>::type;
static_assert(
    std::is_same_v<executor_of<table, table::section::count>, warden::executor::atomics<32>>);
static_assert(
    std::is_same_v<executor_of<table, table::section::erase>, warden::executor::sorted<64>>);
static_assert(std::is_same_v<executor_of<accounts, accounts::section::insert>,
                             warden::executor::atomics<32>>);
static_assert(
    std::is_same_v<executor_of<accounts, accounts::section::add>, warden::executor::sorted<64>>);

}  // namespace
