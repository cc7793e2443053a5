// SPDX-License-Identifier: Apache-2.0
// What is made of allocation, or of CUB: decoding of runs, compaction, partition by owner.

#include "tests/allocate/items.cuh"
#include "tests/support/error_text.hpp"

#include <warden/compact.cuh>
#include <warden/detail/allocate/partition.cuh>
#include <warden/detail/allocate/run_length_decode.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

namespace {

using test::guarded_memory;
using testing::HasSubstr;

/// More than a block's shared memory would hold of each run.
struct large_value {
  large_value() = default;
  explicit large_value(std::uint64_t x) : words{x, x + 1} {}
  bool operator==(large_value const& other) const {
    return words[0] == other.words[0] && words[1] == other.words[1];
  }
  std::uint64_t words[8];
};
template <class T>
void expect_repeated_values() {
  warden::stream s;
  for (auto const& [name, lengths] : test::spreads()) {
    SCOPED_TRACE(name);
    std::vector<T> values, wanted;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      values.push_back(static_cast<T>(test::mix(i)));
      wanted.insert(wanted.end(), lengths[i], values[i]);
    }
    warden::buffer<T> const device_values{values};
    warden::buffer<std::uint32_t> const device_lengths{lengths};
    guarded_memory<T> memory{wanted.size(), 3};
    warden::output out{memory};
    warden::run_length_decode_async(device_values.data(), device_lengths.data(), lengths.size(),
                                    out, s);
    ASSERT_EQ(out.wait(s), wanted.size());
    EXPECT_TRUE(memory.to_host(s) == wanted);
  }
}
TEST(run_length_decode, repeats_values) { expect_repeated_values<std::uint16_t>(); }
TEST(run_length_decode, repeats_large_values) { expect_repeated_values<large_value>(); }

struct mixed {
  WARDEN_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const { return test::mix(i); }
};
/// Numbers that 3 does not divide: 2 of 3 are kept.
struct not_by_three {
  WARDEN_HOST_DEVICE bool operator()(std::uint64_t element) const { return element % 3 != 0; }
};
std::vector<std::uint64_t> kept_of(std::uint64_t n) {
  std::vector<std::uint64_t> kept;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (not_by_three{}(mixed{}(i))) kept.push_back(mixed{}(i));
  }
  return kept;
}

TEST(compact, keeps_the_order) {
  warden::stream s;
  for (std::uint64_t const n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000},
                                test::sized<std::uint64_t>(3000, 1'000'000)}) {
    std::vector<std::uint64_t> const once = kept_of(n);
    guarded_memory<std::uint64_t> memory{2 * once.size(), 0};
    warden::output out{memory};
    for (int time = 0; time < 2; ++time) warden::compact_async(n, mixed{}, not_by_three{}, out, s);
    ASSERT_EQ(out.wait(s), 2 * once.size());
    std::vector<std::uint64_t> wanted = once;
    wanted.insert(wanted.end(), once.begin(), once.end());
    EXPECT_TRUE(memory.to_host(s) == wanted) << n;
  }
}
TEST(compact, tells_the_size_needed) {
  warden::stream s;
  std::vector<std::uint64_t> const kept = kept_of(1000);
  guarded_memory<std::uint64_t> memory{10, 0};
  warden::output out{memory};
  warden::compact_async(1000, mixed{}, not_by_three{}, out, s);
  EXPECT_THAT(
      test::refusal([&] { out.wait(s); }),
      HasSubstr(std::to_string(kept.size()) + " elements were emitted; the capacity is 10"));
  EXPECT_TRUE(memory.to_host(s) == std::vector(kept.begin(), kept.begin() + 10));
}

/// Owners 0 to `owners` - 1; some have nothing.
struct owner_of {
  std::uint32_t owners, shift;
  WARDEN_HOST_DEVICE std::uint32_t operator()(std::uint32_t i) const {
    return static_cast<std::uint32_t>((test::mix(i) >> 40) % owners) / 3 * 3 + shift;
  }
};
struct partitioned {
  std::vector<std::uint64_t> elements, begins;
};
partitioned expected(std::uint32_t n, owner_of owner, std::uint32_t owners, std::uint64_t first) {
  partitioned result;
  for (std::uint32_t o = 0; o < owners; ++o) {
    result.begins.push_back(first + result.elements.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      if (owner(i) == o) result.elements.push_back(mixed{}(i));
    }
  }
  result.begins.push_back(first + result.elements.size());
  return result;
}

TEST(partition, is_by_owner_and_keeps_the_order) {
  warden::stream s;
  auto const most = test::sized<std::uint32_t>(2000, 100'000);
  for (std::uint32_t const owners : {1u, 2u, 7u, 64u}) {
    for (std::uint32_t const n : {0u, 1u, 255u, 256u, most}) {
      SCOPED_TRACE(std::to_string(n) + " elements of " + std::to_string(owners) + " owners");
      partitioned const once = expected(n, {owners, 0}, owners, 0);
      guarded_memory<std::uint64_t> memory{2 * std::size_t{n}, 0};
      warden::output out{memory};
      warden::buffer<std::uint64_t> begins{owners + std::size_t{1}};
      auto const partition = [&] {
        warden::partition_async(n, mixed{}, owner_of{owners, 0}, owners, out, begins.data(), s);
      };
      partition();
      ASSERT_EQ(out.wait(s), n);
      EXPECT_TRUE(begins.to_host(s) == once.begins);
      // And after the elements that are there.
      partition();
      ASSERT_EQ(out.wait(s), 2 * n);
      EXPECT_TRUE(begins.to_host(s) == expected(n, {owners, 0}, owners, n).begins);
      auto const got = memory.to_host(s);
      EXPECT_TRUE(std::equal(once.elements.begin(), once.elements.end(), got.begin()));
      EXPECT_TRUE(std::equal(once.elements.begin(), once.elements.end(), got.begin() + n));
    }
  }
}
TEST(partition, leaves_out_elements_without_owner) {
  warden::stream s;
  owner_of const beyond{8, 3};  // 3, 6 and 9
  partitioned const wanted = expected(500, beyond, 8, 0);
  guarded_memory<std::uint64_t> memory{500, 0};
  warden::output out{memory};
  warden::buffer<std::uint64_t> begins{9};
  warden::partition_async(500, mixed{}, beyond, 8, out, begins.data(), s);
  std::uint32_t first = 0;
  while (beyond(first) < 8) ++first;
  EXPECT_THAT(test::refusal([&] { out.wait(s); }),
              HasSubstr("partition: element " + std::to_string(first) +
                        " has owner 9, which is not below the number of owners (" +
                        std::to_string(500 - wanted.elements.size()) + " such elements)"));
  EXPECT_TRUE(begins.to_host(s) == wanted.begins);
  auto const got = memory.to_host(s);
  EXPECT_TRUE(std::equal(wanted.elements.begin(), wanted.elements.end(), got.begin()));
  EXPECT_EQ(got[wanted.elements.size()], 0xa5a5a5a5a5a5a5a5u);
  // Whatever comes after.
  warden::partition_async(1, mixed{}, owner_of{8, 0}, 8, out, begins.data(), s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }), HasSubstr("has owner 9"));
  out.clear_async(s);
  EXPECT_EQ(out.wait(s), 0u);
}
TEST(partition, of_more_owners_than_elements) {
  warden::stream s;
  for (std::uint32_t const owners : {1000u, 5000u}) {
    guarded_memory<std::uint64_t> memory{3, 0};
    warden::output out{memory};
    warden::buffer<std::uint64_t> begins{owners + std::size_t{1}};
    warden::partition_async(3, mixed{}, owner_of{owners, 0}, owners, out, begins.data(), s);
    ASSERT_EQ(out.wait(s), 3u);
    partitioned const wanted = expected(3, {owners, 0}, owners, 0);
    EXPECT_TRUE(begins.to_host(s) == wanted.begins);
    EXPECT_TRUE(memory.to_host(s) == wanted.elements);
  }
}
TEST(derived, can_be_captured_and_replayed) {
  warden::stream s;
  guarded_memory<std::uint64_t> memory{1000, 0};
  warden::output out{memory};
  warden::buffer<std::uint64_t> begins{8};
  auto const both = [&] {
    out.clear_async(s);
    warden::compact_async(300, mixed{}, not_by_three{}, out, s);
    warden::partition_async(200, mixed{}, owner_of{7, 0}, 7, out, begins.data(), s);
    warden::allocate_async(0, owner_of{7, 0}, test::numbered{}, out, s);
  };
  both();
  out.wait(s);
  auto const captured = warden::graph::capture(s, both);
  memory.clear(s);
  begins.fill_bytes(0, s);
  for (int replay = 0; replay < 3; ++replay) captured.launch(s);
  std::vector<std::uint64_t> wanted = kept_of(300);
  partitioned const after = expected(200, {7, 0}, 7, wanted.size());
  wanted.insert(wanted.end(), after.elements.begin(), after.elements.end());
  ASSERT_EQ(out.wait(s), wanted.size());
  auto const got = memory.to_host(s);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin()));
  EXPECT_TRUE(begins.to_host(s) == after.begins);
}
TEST(partition, tells_the_size_needed) {
  warden::stream s;
  partitioned const wanted = expected(300, {5, 0}, 5, 0);
  guarded_memory<std::uint64_t> memory{100, 0};
  warden::output out{memory};
  warden::buffer<std::uint64_t> begins{6};
  warden::partition_async(300, mixed{}, owner_of{5, 0}, 5, out, begins.data(), s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }),
              HasSubstr("300 elements were emitted; the capacity is 100"));
  EXPECT_TRUE(begins.to_host(s) == wanted.begins);
  EXPECT_TRUE(memory.to_host(s) ==
              std::vector(wanted.elements.begin(), wanted.elements.begin() + 100));
  EXPECT_THAT(
      test::refusal([&] {
        warden::partition_async(1ull << 31, mixed{}, owner_of{5, 0}, 5, out, begins.data(), s);
      }),
      HasSubstr("partition: 2147483648 elements of 5 owners; the limit is 2147483647"));
}

}  // namespace
