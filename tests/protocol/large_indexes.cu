// SPDX-License-Identifier: Apache-2.0
// Rows whose indexes need more than 32 bits, in each way to apply sections in bulk.
//
// The simulated device cannot run 2^32 rows. It runs a range of the rows around row 3 * 2^32, as
// pieces of a longer run would, and the result must be that of the same rows with small indexes.

#include "tests/protocol/deterministic.cuh"
#include "tests/support/error_text.hpp"

#include <warden/deferred_pairs.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/fused.cuh>
#include <warden/runtime.hpp>

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using deterministic_test::mixed;
using testing::HasSubstr;
using warden::detail::guarded_access;
using warden::detail::index_range;

constexpr std::uint64_t limit_of_32_bits = std::uint64_t{1} << 32;

/// Adds in any order.
struct added {
  std::uint64_t value;
  __device__ static added combine(added a, added b) { return {a.value + b.value}; }
  __device__ void operator()(std::uint64_t& record) const { record += value; }
};
/// Adds without being combined.
struct added_alone {
  std::uint64_t value;
  __device__ void operator()(std::uint64_t& record) const { record += value; }
};
/// Gives another record in another order.
struct in_turn {
  std::uint64_t value;
  __device__ void operator()(std::uint64_t& record) const {
    record = test::mix(record * 3 + value);
  }
};
struct added_to_two {
  std::uint64_t value;
  __device__ void operator()(std::uint64_t& first, std::uint64_t& second) const {
    first += value;
    second += 3 * value;
  }
};
/// Sections of the rows from `shift` on. The rows from `bad` on, every 100th one, have no record.
template <class Section>
struct shifted {
  std::uint64_t shift, bad;
  std::uint32_t records;

  WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint64_t row) const {
    return row >= bad && (row - bad) % 100 == 0 ? records : test::id_of(row, records);
  }
  __device__ auto operator()(std::uint64_t i) const {
    std::uint64_t const row = shift + i;
    Section const section{test::mix(row)};
    if constexpr (warden::pair_section_of<Section, std::uint64_t, warden::no_context>) {
      return warden::to{test::id_of(row + 1, records), id_of(row), section};
    } else {
      return warden::to{id_of(row), section};
    }
  }
};

constexpr std::uint64_t middle = 3 * limit_of_32_bits;
/// A range of n rows around row 3 * 2^32, where both halves of an index change.
index_range around_limit(std::uint64_t n) { return {middle - n / 2, middle - n / 2 + n}; }
/// Applies a range of rows by `apply`, and returns the records. Expects an error that names the
/// row `bad`.
template <class Guarded, class Apply>
std::vector<std::uint64_t> records_after(std::uint32_t records, std::uint64_t bad,
                                         Apply const& apply) {
  warden::buffer<std::uint64_t> values{std::vector<std::uint64_t>(records, 7)};
  Guarded g{values};
  apply(g);
  EXPECT_THAT(test::error_text(g), HasSubstr(", in rows from " + std::to_string(bad) + " on"));
  return values.to_host();
}
template <class Policy, class Section>
void expect_as_with_small_indexes(std::uint32_t records, std::uint64_t n) {
  using guarded = warden::basic_guarded<Policy, std::uint64_t, Section>;
  auto const range = around_limit(n);
  std::uint64_t const bad = middle + n / 4;
  auto const large = records_after<guarded>(records, bad, [&](guarded& g) {
    guarded_access::apply(g, range, shifted<Section>{0, bad, records});
  });
  auto const small = records_after<guarded>(records, bad - range.begin, [&](guarded& g) {
    g.apply_async(n, shifted<Section>{range.begin, bad, records});
  });
  EXPECT_EQ(large, small) << n << " rows, " << records << " records";
}
/// A log takes several pieces.
using pieces =
    warden::policy<warden::options{.block_threads = 32, .tuning = {.apply_bytes = 20'000}}>;
using sequential =
    warden::policy<warden::options{.tuning = {.apply_bytes = 20'000}}, warden::order::sequential>;

TEST(large_indexes, bulk_runs_with_tables_of_all_records) {
  for (std::uint32_t const records : {7u, 300u, 3000u})
    expect_as_with_small_indexes<warden::policy<>, added>(records, 5000);
}
TEST(large_indexes, bulk_runs_with_records_in_parts) {
  expect_as_with_small_indexes<pieces, added>(70'001, test::sized(30'000u, 2'000'000u));
}
TEST(large_indexes, logs_of_several_pieces) {
  expect_as_with_small_indexes<pieces, added_alone>(300, 5000);
  expect_as_with_small_indexes<sequential, in_turn>(300, 5000);
  expect_as_with_small_indexes<pieces, added_to_two>(300, 5000);
}
TEST(large_indexes, fused_launches) {
  using in_messages = warden::policy<warden::options{}, warden::executor::pair_messages<>>;
  expect_as_with_small_indexes<in_messages, added_to_two>(300, 2000);
}
TEST(large_indexes, trees_of_partitioned_and_sorted_sections) {
  using policy = deterministic_test::in_trees;
  expect_as_with_small_indexes<policy, mixed>(300, 9000);
  expect_as_with_small_indexes<policy, mixed>((1u << 20) + 1, 3000);
}
TEST(large_indexes, send_async) {
  using guarded = warden::guarded<std::uint64_t, added>;
  auto const range = around_limit(1000);
  std::uint64_t const bad = middle + 50;
  shifted<added> const f{0, bad, 10};
  auto const error_after = [](guarded& g, index_range of, shifted<added> const& sections) {
    warden::deferred log{g, 300};
    warden::detail::send_range(log, of, sections, {}, std::source_location::current());
    log.run();
    return test::error_text(g);
  };
  warden::buffer<std::uint64_t> large{std::vector<std::uint64_t>(10, 0)}, small{large.to_host()};
  guarded g{large}, h{small};
  EXPECT_THAT(error_after(g, range, f), HasSubstr(", in rows from " + std::to_string(bad) + " on"));
  EXPECT_THAT(error_after(h, {0, 1000}, {range.begin, bad, 10}),
              HasSubstr(", in rows from 550 on"));
  EXPECT_EQ(large.to_host(), small.to_host());
}

/// Counts rows.
struct one {
  std::uint64_t rows;
  __device__ static one combine(one a, one b) { return {a.rows + b.rows}; }
  __device__ void operator()(std::uint64_t& record) const { record += rows; }
};
struct one_alone {
  __device__ void operator()(std::uint64_t& record) const { ++record; }
};
template <class Section>
struct by_remainder {
  std::uint32_t records;
  __device__ auto operator()(std::uint64_t i) const {
    auto const id = static_cast<std::uint32_t>(i % records);
    if constexpr (std::is_empty_v<Section>) {
      return warden::to{id, Section{}};
    } else {
      return warden::to{id, Section{1}};
    }
  }
};
/// Applies 2^32 + 5 rows on a GPU. Ids come from a function, so no memory holds the rows.
template <class Policy, class Section>
void expect_all_rows(std::uint32_t records) {
  std::uint64_t const n = test::sized(std::uint64_t{5000}, limit_of_32_bits + 5);
  warden::buffer<std::uint64_t> counts{records};
  counts.fill_bytes(0);
  warden::basic_guarded<Policy, std::uint64_t, Section> g{counts};
  g.apply_async(n, by_remainder<Section>{records});
  g.wait();
  auto const found = counts.to_host();
  for (std::uint32_t r = 0; r < records; ++r)
    ASSERT_EQ(found[r], n / records + (r < n % records ? 1 : 0)) << "record " << r;
}
TEST(large_indexes, more_rows_than_32_bits_count_in_tables) {
  for (std::uint32_t const records : {50u, 300u, 3000u})
    expect_all_rows<warden::policy<>, one>(records);
}
TEST(large_indexes, more_rows_than_32_bits_count_in_parts) {
  expect_all_rows<warden::policy<>, one>(test::sized(20'000u, 1'000'000u));
}
TEST(large_indexes, more_rows_than_32_bits_count_in_a_log) {
  expect_all_rows<warden::policy<>, one_alone>(test::sized(1000u, 1'000'000u));
}
TEST(large_indexes, more_rows_than_32_bits_count_in_trees) {
  auto const bytes = warden::runtime::facts(warden::runtime::current_device()).global_bytes;
  if (bytes < test::sized(std::size_t{0}, std::size_t{24} << 30))
    GTEST_SKIP() << "trees of 2^32 rows need 24 GB; the device has " << bytes << " bytes";
  for (std::uint32_t const records : {1000u, test::sized((1u << 20) + 1, 1u << 21)})
    expect_all_rows<deterministic_test::in_trees, one>(records);
}

}  // namespace
