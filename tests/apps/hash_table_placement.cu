// SPDX-License-Identifier: Apache-2.0
// Number of a table's buckets, and logs on chip and in memory.

#include "apps/hash_table/table.cuh"
#include "tests/apps/contents.cuh"
#include "tests/support/support.cuh"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using test::contents;
using key = std::uint64_t;
using table = hash_table::table<key, unsigned>;

/// As many lines as `partitions` hold on chip, and some more.
std::uint32_t more_buckets_than_fit(std::uint32_t partitions) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  return static_cast<std::uint32_t>(facts.shared_bytes_per_block / 128 * partitions + partitions);
}
TEST(hash_table_kernels, few_keys_have_more_slots) {
  constexpr std::uint32_t slots = hash_table::bucket<key, unsigned>::slots;
  auto const slots_for = [](std::uint32_t keys) {
    return slots * table{{.capacity = keys}}.bucket_count();
  };
  EXPECT_GE(slots_for(8192), 8u * 8192);
  EXPECT_LT(slots_for(8192), 8u * 8192 + slots);
  EXPECT_GE(slots_for(8193), 2u * 8193);
  EXPECT_LT(slots_for(8193), 2u * 8193 + slots);
}
TEST(hash_table_kernels, a_table_that_does_not_fit_the_chip_stays_in_memory_for_few_operations) {
  std::uint32_t const n = 500;
  hash_table::table<std::uint32_t, unsigned> t{
      {.buckets = more_buckets_than_fit(512), .capacity = n, .overflow = n}};
  using log = hash_table::operation_log<decltype(t), decltype(t)::section::count>;
  EXPECT_FALSE((log{t, 10}.is_on_chip()));
  std::vector<std::uint32_t> keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = i % 100;
  warden::buffer<std::uint32_t> const device_keys{keys};
  t.count_async(device_keys.data(), n);
  t.wait();
  auto const all = contents<std::uint32_t, unsigned>(t, n);
  ASSERT_EQ(all.size(), 100u);
  for (auto const& [k, v] : all) EXPECT_EQ(v, 5u);
}
// Counts of 4-byte keys combine to additions, which are wider.
TEST(hash_table_kernels, counts_are_sent_as_additions_if_only_a_log_of_those_fits_the_chip) {
  // With this number, half as many operations need a larger log than the smallest.
  std::uint32_t const buckets = more_buckets_than_fit(2), n = std::bit_ceil(4 * buckets);
  using table = hash_table::table<std::uint32_t, unsigned>;
  using count = table::section::count;
  table t{{.buckets = buckets, .capacity = n, .partitions = 2}};
  EXPECT_FALSE(t.sends_partials<count>(n / 2)) << "few operations for each bucket";
  EXPECT_TRUE(t.sends_partials<count>(n));
  EXPECT_FALSE(t.sends_partials<table::section::add>(n));
  table const small{{.capacity = 1000}};
  EXPECT_FALSE(small.sends_partials<count>(n)) << "fits the chip as it is";

  std::vector<std::uint32_t> keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = i / 2;
  warden::buffer<std::uint32_t> const device_keys{keys};
  t.reserve<table::section::add>(n);
  std::size_t const before = t.memory_bytes();
  t.reserve<count>(n);
  t.count_async(device_keys.data(), n);
  t.wait();
  EXPECT_EQ(t.memory_bytes(), before) << "the log of additions does for both";
  auto const all = contents<std::uint32_t, unsigned>(t, n);
  ASSERT_EQ(all.size(), n / 2);
  for (auto const& [k, v] : all) ASSERT_EQ(v, 2u) << "key " << k;
}
TEST(hash_table_kernels, a_log_of_many_operations_is_split_to_fit_the_chip) {
  std::uint32_t const buckets = more_buckets_than_fit(1), n = 4 * buckets;
  using table = hash_table::table<std::uint64_t, unsigned>;
  table t{{.buckets = buckets, .capacity = n / 2, .partitions = 1}};
  using counting = hash_table::operation_log<table, table::section::count>;
  using erasing = hash_table::operation_log<table, table::section::erase>;
  warden::deferred_options const one{.partitions = 1};
  EXPECT_FALSE((counting{t, n - 1, one}.is_on_chip()));
  EXPECT_FALSE((counting{t, n, {.partitions = 1, .split = 1}}.is_on_chip()));
  EXPECT_TRUE((counting{t, n, one}.is_on_chip()));
  EXPECT_TRUE((erasing{t, n, one}.is_on_chip()));
  // Sections of two widths, which are not split.
  hash_table::table<std::uint32_t, unsigned> u{{.buckets = buckets, .capacity = n}};
  using combining = hash_table::operation_log<decltype(u), decltype(u)::section::count>;
  EXPECT_FALSE((combining{u, n, one}.is_on_chip()));

  std::vector<std::uint64_t> keys(n);
  for (std::uint32_t i = 0; i < n; ++i) keys[i] = i / 2;
  warden::buffer<std::uint64_t> const device_keys{keys};
  t.count_async(device_keys.data(), n);
  t.erase_async(device_keys.data(), n / 4);
  t.wait();
  auto const all = contents<std::uint64_t, unsigned>(t, n);
  for (std::uint32_t k = 0; k < n / 2; ++k) {
    bool const erased = k < (n / 4 + 1) / 2;
    ASSERT_EQ(all.contains(k), !erased);
    if (!erased) {
      ASSERT_EQ(all.at(k), 2u);
    }
  }
}

}  // namespace
