// SPDX-License-Identifier: Apache-2.0
// The hash table, on Warden and on its baselines, against what a map on the host does.

#include "apps/hash_table/baselines.cuh"
#include "apps/hash_table/table.cuh"
#include "apps/hash_table/word_keys.cuh"
#include "tests/apps/contents.cuh"
#include "tests/support/support.cuh"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using test::contents;
using test::copy_out;
using testing::HasSubstr;

struct wide {
  std::uint64_t a, b, c;
  friend bool operator==(wide const&, wide const&) = default;
};
wide wide_of(std::uint64_t key) { return {key + 1, key * 3, ~key}; }

template <class Key>
std::vector<Key> distinct_keys(std::uint32_t n, std::uint32_t from = 0) {
  std::vector<Key> keys(n);
  // An odd factor: no two keys are equal, and they are no run of numbers.
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = static_cast<Key>((from + i + 1) * 2654435761u);
  return keys;
}

using key64 = std::uint64_t;
using small_number = std::uint32_t;
using table64 = hash_table::table<key64, wide>;
using table64_by_locks = hash_table::table_by<warden::executor::locks<>, key64, wide>;
using locked64 = hash_table::locked_table<key64, wide>;
using atomic64 = hash_table::atomic_table<key64, wide>;

template <class Table>
class every_arm : public testing::Test {};
using arms_of_64 = testing::Types<table64, table64_by_locks, locked64, atomic64>;
TYPED_TEST_SUITE(every_arm, arms_of_64);

TYPED_TEST(every_arm, inserts_and_finds) {
  std::uint32_t const n = test::sized(300u, 300'000u);
  TypeParam t{{.buckets = n / 4, .capacity = n}};
  auto const keys = distinct_keys<key64>(n);
  std::vector<wide> values;
  for (key64 k : keys) values.push_back(wide_of(k));
  warden::buffer<key64> const device_keys{keys};
  warden::buffer<wide> const device_values{values};
  t.insert_async(device_keys.data(), device_values.data(), n);
  t.wait();
  EXPECT_EQ(t.counts().inserted, n);

  auto asked = keys;
  auto const others = distinct_keys<key64>(n, n);
  asked.insert(asked.end(), others.begin(), others.end());
  warden::buffer<key64> const device_asked{asked};
  warden::buffer<wide> found_values{2 * n};
  warden::buffer<bool> found{2 * n};
  t.find_async(device_asked.data(), 2 * n, found_values.data(), found.data());
  std::vector<wide> const host_values = found_values.to_host();
  bool const* const device_found = found.data();
  std::vector<unsigned char> host_found(2 * n);
  warden::copy(host_found.data(), reinterpret_cast<unsigned char const*>(device_found), 2 * n);
  warden::stream_ref{}.synchronize();
  for (std::uint32_t i = 0; i < 2 * n; ++i) {
    ASSERT_EQ(host_found[i] != 0, i < n) << i;
    if (i < n) {
      ASSERT_EQ(host_values[i], values[i]) << i;
    }
  }
}

TYPED_TEST(every_arm, one_of_equal_keys_is_inserted) {
  // Every key sixteen times at once, and few buckets.
  std::uint32_t const distinct = test::sized(20u, 5'000u), n = 16 * distinct;
  TypeParam t{{.buckets = distinct / 4, .capacity = distinct}};
  auto const some = distinct_keys<key64>(distinct);
  std::vector<key64> keys(n);
  std::vector<wide> values(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    keys[i] = some[i % distinct];
    values[i] = wide_of(i);
  }
  warden::buffer<key64> const device_keys{keys};
  warden::buffer<wide> const device_values{values};
  t.insert_async(device_keys.data(), device_values.data(), n);
  t.wait();
  auto const counts = t.counts();
  EXPECT_EQ(counts.inserted, distinct);
  EXPECT_EQ(counts.present, n - distinct);
  auto const all = contents<key64, wide>(t, n);
  ASSERT_EQ(all.size(), distinct);
  for (std::uint32_t d = 0; d < distinct; ++d) {
    wide const& v = all.at(some[d]);
    EXPECT_EQ((v.a - 1) % distinct, d) << "a value of another key";
    EXPECT_EQ(v, wide_of(v.a - 1)) << "torn";
  }
}

template <class Table>
class every_locking_arm : public testing::Test {};
using arms_that_exclude = testing::Types<table64, table64_by_locks, locked64>;
TYPED_TEST_SUITE(every_locking_arm, arms_that_exclude);

TYPED_TEST(every_locking_arm, does_what_a_map_does) {
  std::uint32_t const n = test::sized(100u, 50'000u), capacity = 2 * n;
  TypeParam t{{.buckets = n / 4, .capacity = capacity}};
  std::map<key64, wide> model;
  std::mt19937 random{7};
  hash_table::totals expected{};
  for (int round = 0; round < 6; ++round) {
    auto keys = distinct_keys<key64>(n, random() % n);
    std::vector<wide> values;
    for (key64 k : keys) values.push_back(wide_of(k + static_cast<unsigned>(round)));
    warden::buffer<key64> const device_keys{keys};
    warden::buffer<wide> const device_values{values};
    // Half of them are erased each time, so that slots and nodes are used again.
    std::uint32_t const erased = n / 2;
    t.insert_or_assign_async(device_keys.data(), device_values.data(), n);
    t.erase_async(device_keys.data(), erased);
    t.erase_async(device_keys.data(), erased / 2);
    t.wait();
    for (std::uint32_t i = 0; i < n; ++i) {
      (model.contains(keys[i]) ? expected.updated : expected.inserted) += 1;
      model[keys[i]] = values[i];
    }
    for (std::uint32_t i = 0; i < erased; ++i) model.erase(keys[i]);
    expected.erased += erased;
    expected.absent += erased / 2;
    ASSERT_EQ((contents<key64, wide>(t, capacity)), model) << "after round " << round;
  }
  auto const counts = t.counts();
  EXPECT_EQ(counts.inserted, expected.inserted);
  EXPECT_EQ(counts.updated, expected.updated);
  EXPECT_EQ(counts.erased, expected.erased);
  EXPECT_EQ(counts.absent, expected.absent);
  EXPECT_EQ(counts.refused, 0u);
}

TYPED_TEST(every_locking_arm, a_full_pool_says_so_and_erased_nodes_are_used_again) {
  // All keys are in one bucket.
  constexpr std::uint32_t slots = TypeParam::bucket_type::slots;
  std::uint32_t const overflow = test::sized(30u, 300u), room = slots + overflow, n = room + 10;
  TypeParam t{{.buckets = 1, .capacity = room, .overflow = overflow}};
  auto const keys = distinct_keys<key64>(n);
  warden::buffer<key64> const device_keys{keys};
  warden::buffer<wide> const values{std::vector<wide>(n, wide_of(1))};
  t.insert_async(device_keys.data(), values.data(), n);
  try {
    t.wait();
    ADD_FAILURE() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("the pool of " + std::to_string(overflow) +
                                    " overflow nodes is full; 10 new keys were refused"));
  }
  t.wait();  // reported once
  ASSERT_EQ((contents<key64, wide>(t, n).size()), room);
  for (int round = 0; round < 3; ++round) {
    // All out, all others in: every node comes from the freed ones.
    t.erase_async(device_keys.data(), n);
    auto const others = distinct_keys<key64>(room, 1'000'000u * (round + 1));
    warden::buffer<key64> const device_others{others};
    t.insert_async(device_others.data(), values.data(), room);
    t.wait();
    auto const all = contents<key64, wide>(t, n);
    ASSERT_EQ(all.size(), room);
    for (key64 k : others) ASSERT_TRUE(all.contains(k));
    t.erase_async(device_others.data(), room);
    t.insert_async(device_keys.data(), values.data(), room);
    t.wait();
  }
}

using counts32 = hash_table::table<std::uint32_t, small_number>;  // by atomics
using counts32_by_runs =
    hash_table::table_by<warden::executor::sorted<>, std::uint32_t, small_number>;
using counts32_by_locks =
    hash_table::table_by<warden::executor::locks<>, std::uint32_t, small_number>;
using locked_counts32 = hash_table::locked_table<std::uint32_t, small_number>;
using atomic_counts32 = hash_table::atomic_table<std::uint32_t, small_number>;
template <class Table>
class every_counter : public testing::Test {};
using counters =
    testing::Types<counts32, counts32_by_runs, counts32_by_locks, locked_counts32, atomic_counts32>;
TYPED_TEST_SUITE(every_counter, counters);

TYPED_TEST(every_counter, counts_hot_keys_of_32_bits) {
  // Locks do some ten thousand a second on one bucket; on the simulated device each thread that
  // waits is run, too, so that time grows with the square of their number.
  bool const locks = std::is_same_v<TypeParam, locked_counts32>;
  std::uint32_t const n = test::sized(locks ? 500u : 2'000u, 20'000u);
  std::vector<std::uint32_t> keys(n);
  std::map<std::uint32_t, small_number> wanted;
  std::mt19937 random{3};
  for (std::uint32_t& k : keys) {
    k = random() % 4 != 0 ? 5 : random() % 100;
    ++wanted[k];
  }
  for (std::uint32_t const buckets : {1u, 64u}) {
    // One bucket: 85 keys overflow, and one owner has all operations. The pool has room for nodes
    // that atomics take in vain, before the first one is known.
    std::uint32_t const capacity = 200 + n;
    TypeParam t{{.buckets = buckets, .capacity = capacity, .overflow = capacity}};
    std::uint32_t const some = buckets == 1 ? n / 20 : n;
    warden::buffer<std::uint32_t> const device_keys{std::span<std::uint32_t const>{keys}};
    t.add_async(device_keys.data(), 1, some);
    t.wait();
    if (some != n) {
      t.add_async(device_keys.data() + some, 1, n / 10 - some);
      t.wait();
      std::map<std::uint32_t, small_number> fewer;
      for (std::uint32_t i = 0; i < n / 10; ++i) ++fewer[keys[i]];
      EXPECT_EQ((contents<std::uint32_t, small_number>(t, capacity)), fewer);
    } else {
      EXPECT_EQ((contents<std::uint32_t, small_number>(t, capacity)), wanted);
    }
  }
}

/// All words hash alike: only their bytes tell them apart.
struct one_hash : hash_table::word_keys {
  __device__ std::uint64_t hash(hash_table::word const&) const { return 42; }
};

TEST(hash_table, words_are_compared_byte_by_byte) {
  std::string const text = "ab abc ab b abd abc ab";
  auto const words = hash_table::words_of(text);
  warden::buffer<char> const device_text{std::vector<char>(text.begin(), text.end())};
  warden::buffer<hash_table::word> const device_words{words};
  hash_table::table<hash_table::word, small_number, one_hash> t{{.buckets = 7, .capacity = 10},
                                                                one_hash{{device_text.data()}}};
  t.add_async(device_words.data(), 1, static_cast<std::uint32_t>(words.size()));
  t.wait();
  warden::buffer<hash_table::word> keys{10};
  warden::buffer<small_number> values{10};
  warden::buffer<std::uint32_t> n{1};
  n.fill_bytes(0);
  t.for_each_async(copy_out<hash_table::word, small_number>{keys.data(), values.data(), n.data()});
  std::map<std::string, small_number> counted;
  for (std::uint32_t i = 0; i < n.to_host()[0]; ++i) {
    auto const w = keys.to_host()[i];
    counted[text.substr(w.offset, w.length)] += values.to_host()[i];
  }
  EXPECT_EQ(counted,
            (std::map<std::string, small_number>{{"ab", 3}, {"abc", 2}, {"abd", 1}, {"b", 1}}));
}

TEST(hash_table, impossible_sizes) {
  auto const expect_refused = [](hash_table::table_options o, std::string const& what) {
    try {
      table64{o};
      ADD_FAILURE() << "no error";
    } catch (warden::limit_error const& e) {
      EXPECT_THAT(e.what(), HasSubstr("hash_table: " + what + " is not from 1 to 2147483648"));
    }
  };
  expect_refused({.buckets = 1, .capacity = 0}, "capacity 0");
  expect_refused({.capacity = 10, .overflow = 0xffffffffu}, "overflow 4294967295");
}

}  // namespace
