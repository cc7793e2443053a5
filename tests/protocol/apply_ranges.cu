// SPDX-License-Identifier: Apache-2.0
// apply_async of ranges: sections, values of which sections are made, functions, and numbers.

#include "tests/support/error_text.hpp"
#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/stream.hpp>

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using test::error_text;
using test::refusal;
using testing::HasSubstr;

constexpr std::uint32_t accounts = 10, n = 1000;

struct deposit {
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& balance) const { balance += amount; }
};
struct reset {
  __device__ void operator()(std::uint64_t& balance) const { balance = 0; }
};
using bank = warden::guarded<std::uint64_t, deposit>;

/// Returns `size` ids, of which every second one is that of account 7.
std::vector<std::uint32_t> some_ids(std::uint32_t size = n) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < size; ++i) ids.push_back(i % 2 == 0 ? 7 : i % accounts);
  return ids;
}
/// Returns the balances after a deposit of `amount(i)` on each id.
template <class Amount>
std::vector<std::uint64_t> balances_after(std::vector<std::uint32_t> const& ids, Amount amount) {
  std::vector<std::uint64_t> balances(accounts);
  for (std::uint32_t i = 0; i < ids.size(); ++i) balances[ids[i]] += amount(i);
  return balances;
}
std::uint32_t thrice(std::uint32_t i) { return 3 * i; }

class apply_ranges : public testing::Test {
 protected:
  apply_ranges() { records.fill_bytes(0); }
  std::vector<std::uint64_t> balances() {
    on.wait();
    return records.to_host();
  }
  warden::buffer<std::uint64_t> records{accounts};
  bank on{records};
  warden::buffer<std::uint32_t> const ids{some_ids()};
  std::vector<std::uint64_t> const expected = balances_after(some_ids(), thrice);
};

TEST_F(apply_ranges, sections) {
  std::vector<deposit> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back({thrice(i)});
  warden::buffer<deposit> const sections{all};
  on.apply_async(ids, sections);
  EXPECT_EQ(balances(), expected);
}

TEST_F(apply_ranges, values_of_the_only_section_type) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back(thrice(i));
  warden::buffer<std::uint32_t> amounts{all};
  on.apply_async(ids, amounts);
  EXPECT_EQ(balances(), expected);
}

TEST_F(apply_ranges, sections_of_one_of_several_types) {
  warden::guarded<std::uint64_t, reset, deposit> both{records};
  warden::buffer<deposit> const sections{std::vector<deposit>(n, deposit{2})};
  both.apply_async(ids, sections);
  both.wait();
  EXPECT_EQ(records.to_host(), balances_after(some_ids(), [](std::uint32_t) { return 2u; }));
}

struct triple {
  __device__ deposit operator()(std::uint64_t i) const {
    return {3 * static_cast<std::uint32_t>(i)};
  }
};
TEST_F(apply_ranges, a_function) {
  on.apply_async(ids, triple{});
  EXPECT_EQ(balances(), expected);
}

struct indexed_deposit {
  static constexpr bool takes_index = true;
  std::uint32_t amount;
  __device__ void operator()(std::uint64_t& balance) const { balance += amount; }
};
TEST_F(apply_ranges, indexes) {
  warden::guarded<std::uint64_t, indexed_deposit> by_index{records};
  by_index.apply_async(ids);
  by_index.wait();
  EXPECT_EQ(records.to_host(), balances_after(some_ids(), [](std::uint32_t i) { return i; }));
}

TEST_F(apply_ranges, spans_and_a_stream) {
  warden::stream const s;
  std::span<std::uint32_t const> const some{ids.data(), 100};
  warden::guarded<std::uint64_t, indexed_deposit> by_index{records};
  on.apply_async(some, triple{}, s);
  by_index.apply_async(some, s);
  by_index.wait(s);
  EXPECT_EQ(records.to_host(),
            balances_after(some_ids(100), [](std::uint32_t i) { return 4 * i; }));
}

TEST_F(apply_ranges, empty_ranges) {
  warden::buffer<std::uint32_t> const none;
  warden::guarded<std::uint64_t, indexed_deposit>{records}.apply_async(none);
  on.apply_async(none, none);
  on.apply_async(none, triple{});
  EXPECT_EQ(balances(), std::vector<std::uint64_t>(accounts));
}

TEST_F(apply_ranges, of_different_sizes) {
  warden::buffer<std::uint32_t> const amounts{n - 1};
  EXPECT_THAT(refusal([&] { on.apply_async(ids, amounts); }),
              HasSubstr("apply_async: 1000 ids and 999 values; give one value for each id"));
  EXPECT_EQ(balances(), std::vector<std::uint64_t>(accounts));
}

/// A range without memory, of which only the size is read.
struct long_range {
  [[nodiscard]] std::uint32_t* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return (std::size_t{1} << 32) + 1; }
};
TEST_F(apply_ranges, more_indexes_than_32_bits_hold) {
  warden::guarded<std::uint64_t, indexed_deposit> by_index{records};
  EXPECT_THAT(refusal([&] { by_index.apply_async(long_range{}); }),
              HasSubstr("apply_async: 4294967297 ids; sections that are made of their index are "
                        "at most 4294967296"));
}

TEST_F(apply_ranges, null_pointers) {
  std::uint32_t const* const none = nullptr;
  deposit const* const no_sections = nullptr;
  EXPECT_THAT(refusal([&] { on.apply_async(none, n, triple{}); }),
              HasSubstr("apply_async: ids at a null pointer, 1000 of them: pass device memory"));
  EXPECT_THAT(refusal([&] { on.apply_async(ids.data(), no_sections, n); }),
              HasSubstr("apply_async: sections at a null pointer, 1000 of them"));
  on.apply_async(none, no_sections, 0);
  EXPECT_EQ(balances(), std::vector<std::uint64_t>(accounts));
}

TEST_F(apply_ranges, a_bad_id) {
  warden::buffer<std::uint32_t> const bad{std::vector<std::uint32_t>{7, accounts, 7}};
  on.apply_async(bad, warden::buffer<std::uint32_t>{std::vector<std::uint32_t>{1, 2, 4}});
  EXPECT_THAT(error_text(on), HasSubstr("record id 10 is not below 10"));
  EXPECT_EQ(records.to_host()[7], 5u);
}

}  // namespace
