// SPDX-License-Identifier: Apache-2.0
// Allocation as one call: elements where the contract says, all of them, and none beyond the
// capacity.

#include "tests/allocate/items.cuh"
#include "tests/support/error_text.hpp"

#include <warden/stream.hpp>

#include <gmock/gmock.h>

namespace {

using test::counts_in;
using test::guarded_memory;
using test::numbered;
using test::numbered_as;
using testing::HasSubstr;

// Two warps a block, and an odd number of items for each thread.
template <class Contract>
using small = warden::allocation_policy<Contract, 64, 3>;

template <class Contract>
class allocate : public testing::Test {
 protected:
  static constexpr bool in_order = !std::is_same_v<Contract, warden::unordered>;

  /// The contract's order: elements of tiles may come in any order if it is unordered.
  template <class T>
  static void expect_elements(std::vector<T> got, std::vector<T> wanted) {
    if (!in_order) {
      std::sort(got.begin(), got.end());
      std::sort(wanted.begin(), wanted.end());
    }
    ASSERT_EQ(got.size(), wanted.size());
    EXPECT_TRUE(got == wanted);
  }
};
struct contract_names {
  template <class Contract>
  static std::string GetName(int) {
    return std::is_same_v<Contract, warden::unordered> ? "unordered"
           : std::is_same_v<Contract, warden::ordered> ? "ordered"
                                                       : "reduce_then_scan";
  }
};
using contracts = testing::Types<warden::unordered, warden::ordered, warden::reduce_then_scan>;
TYPED_TEST_SUITE(allocate, contracts, contract_names);

TYPED_TEST(allocate, every_element_has_its_place) {
  warden::stream s;
  for (auto const& [name, counts] : test::spreads()) {
    SCOPED_TRACE(name);
    std::vector<std::uint64_t> const wanted = test::elements_of(counts);
    warden::buffer<std::uint32_t> const device_counts{counts};
    guarded_memory<std::uint64_t> memory{wanted.size(), 1};
    warden::output out{memory};
    warden::allocate_async<small<TypeParam>>(counts.size(), counts_in{device_counts.data()},
                                             numbered{}, out, s);
    ASSERT_EQ(out.wait(s), wanted.size());
    this->expect_elements(memory.to_host(s), wanted);
  }
}

TYPED_TEST(allocate, nothing_beyond_the_capacity_is_touched) {
  warden::stream s;
  for (auto const& [name, counts] : test::spreads()) {
    std::vector<std::uint64_t> const all = test::elements_of(counts);
    if (all.empty()) continue;
    warden::buffer<std::uint32_t> const device_counts{counts};
    for (std::size_t const capacity :
         {std::size_t{0}, std::size_t{1}, all.size() / 2, all.size() - 1}) {
      SCOPED_TRACE(name + std::string{", capacity "} + std::to_string(capacity));
      guarded_memory<std::uint64_t> memory{capacity, 0};
      warden::output out{memory};
      for (int round = 0; round < 2; ++round) {
        warden::allocate_async<small<TypeParam>>(counts.size(), counts_in{device_counts.data()},
                                                 numbered{}, out, s);
        EXPECT_THAT(
            test::refusal([&] { out.wait(s); }),
            HasSubstr("output: " + std::to_string(all.size()) +
                      " elements were emitted; the capacity is " + std::to_string(capacity)));
        std::vector<std::uint64_t> got = memory.to_host(s);
        if (this->in_order) {
          EXPECT_TRUE(std::equal(got.begin(), got.end(), all.begin()));
        } else {
          std::sort(got.begin(), got.end());
          EXPECT_TRUE(std::includes(all.begin(), all.end(), got.begin(), got.end()));
          EXPECT_TRUE(std::adjacent_find(got.begin(), got.end()) == got.end());
        }
        out.clear_async(s);
        memory.clear(s);
      }
    }
  }
}

/// Items of one tile begin 2^32 elements apart.
struct many {
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return i == 0 ? 0xffffffffu : i == 1 ? 2 : 4'000'000'000u;
  }
};
TYPED_TEST(allocate, counts_beyond_32_bits) {
  warden::stream s;
  guarded_memory<std::uint64_t> memory{100, 0};
  warden::output out{memory};
  warden::allocate_async<small<TypeParam>>(1000, many{}, numbered{}, out, s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }),
              HasSubstr("3996294967297 elements were emitted; the capacity is 100"));
  std::vector<std::uint64_t> const got = memory.to_host(s);
  for (std::uint32_t k = 0; k < 100; ++k) {
    bool const is_first_tile = got[0] >> 32 == 1;
    EXPECT_TRUE(is_first_tile || !this->in_order);
    EXPECT_EQ(got[k] & 0xffffffff, k);
    EXPECT_EQ(got[k] >> 32, got[0] >> 32);
  }
}

TYPED_TEST(allocate, goes_on_where_the_last_one_ended) {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  std::vector<std::uint64_t> const once = test::elements_of(counts);
  warden::buffer<std::uint32_t> const device_counts{counts};
  guarded_memory<std::uint64_t> memory{2 * once.size() + 3, 0};
  warden::output out{memory};
  auto const allocate = [&](std::uint64_t n) {
    warden::allocate_async<small<TypeParam>>(n, counts_in{device_counts.data()}, numbered{}, out,
                                             s);
  };
  allocate(0);
  EXPECT_EQ(out.wait(s), 0u);
  allocate(counts.size());
  allocate(0);
  allocate(counts.size());
  ASSERT_EQ(out.wait(s), 2 * once.size());
  auto const got = memory.to_host(s);
  auto const middle = got.begin() + static_cast<std::ptrdiff_t>(once.size());
  this->expect_elements({got.begin(), middle}, once);
  this->expect_elements({middle, got.end() - 3}, once);
  EXPECT_EQ(std::count(got.end() - 3, got.end(), guarded_memory<std::uint64_t>::untouched), 3);
}

struct one_each {
  __device__ std::uint32_t operator()(std::uint64_t) const { return 1; }
};
TYPED_TEST(allocate, can_be_captured_and_replayed) {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  std::vector<std::uint64_t> const once = test::elements_of(counts);
  warden::buffer<std::uint32_t> const device_counts{counts};
  guarded_memory<std::uint64_t> memory{once.size(), 0};
  warden::output out{memory};
  auto const allocate = [&] {
    out.clear_async(s);
    warden::allocate_async<small<TypeParam>>(counts.size(), counts_in{device_counts.data()},
                                             numbered{}, out, s);
  };
  EXPECT_THAT(test::refusal([&] { warden::graph::capture(s, allocate); }),
              HasSubstr("run one such allocation of this output before the capture"));
  allocate();
  out.wait(s);
  auto const captured = warden::graph::capture(s, allocate);
  // Memory that grows in between does not free what was captured.
  warden::allocate_async<small<TypeParam>>(70'000, one_each{}, numbered{}, out, s);
  for (int replay = 0; replay < 5; ++replay) captured.launch(s);
  ASSERT_EQ(out.wait(s), once.size());
  this->expect_elements(memory.to_host(s), once);
}

/// Writes an item's elements itself.
struct write_all {
  std::uint32_t const* counts;
  std::uint64_t* to;
  __device__ void operator()(std::uint64_t i, std::uint64_t place) const {
    for (std::uint32_t k = 0; k < counts[i]; ++k) to[place + k] = numbered{}(i, k);
  }
};
TYPED_TEST(allocate, tells_places_to_those_who_write_themselves) {
  warden::stream s;
  for (auto const& [name, counts] : test::spreads()) {
    SCOPED_TRACE(name);
    std::vector<std::uint64_t> const wanted = test::elements_of(counts);
    warden::buffer<std::uint32_t> const device_counts{counts};
    guarded_memory<std::uint64_t> memory{wanted.size(), 0};
    warden::output out{memory};
    warden::allocate_places_async<small<TypeParam>>(counts.size(), counts_in{device_counts.data()},
                                                    write_all{device_counts.data(), memory.data()},
                                                    out, s);
    ASSERT_EQ(out.wait(s), wanted.size());
    this->expect_elements(memory.to_host(s), wanted);
  }
}
TYPED_TEST(allocate, tells_no_places_of_items_that_do_not_fit) {
  warden::stream s;
  std::vector<std::uint32_t> const counts(300, 2);
  warden::buffer<std::uint32_t> const device_counts{counts};
  guarded_memory<std::uint64_t> memory{101, 0};
  warden::output out{memory};
  warden::allocate_places_async<small<TypeParam>>(
      300, counts_in{device_counts.data()}, write_all{device_counts.data(), memory.data()}, out, s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }), HasSubstr("600 elements were emitted"));
  EXPECT_EQ(memory.to_host(s).back(), 0xa5a5a5a5a5a5a5a5u) << "half of an item";
}

struct three_words {
  std::uint32_t words[3];
  three_words() = default;
  WARDEN_HOST_DEVICE explicit three_words(std::uint64_t x)
      : words{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32), 7} {}
  bool operator==(three_words const&) const = default;
};
struct two_words {
  std::uint32_t words[2];
  two_words() = default;
  WARDEN_HOST_DEVICE explicit two_words(std::uint64_t x)
      : words{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)} {}
  bool operator==(two_words const&) const = default;
};
/// Elements of any size, from any place on: those that are stored 16 bytes at once, and others.
template <class T>
void expect_every_alignment() {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  std::vector<T> const wanted = test::elements_of(counts, numbered_as<T>{});
  warden::buffer<std::uint32_t> const device_counts{counts};
  for (std::size_t const offset : {0, 1, 3, 6, 15}) {
    SCOPED_TRACE(std::to_string(sizeof(T)) + " bytes from " + std::to_string(offset));
    guarded_memory<T> memory{wanted.size(), offset};
    warden::output out{memory};
    warden::allocate_async<small<warden::ordered>>(counts.size(), counts_in{device_counts.data()},
                                                   numbered_as<T>{}, out, s);
    ASSERT_EQ(out.wait(s), wanted.size());
    EXPECT_TRUE(memory.to_host(s) == wanted);
  }
}
TEST(allocate, elements_of_any_size) {
  expect_every_alignment<std::uint8_t>();
  expect_every_alignment<std::uint32_t>();
  expect_every_alignment<two_words>();
  expect_every_alignment<three_words>();
}

/// Elements that are told what their item said.
struct said {
  std::uint32_t value;
  std::uint32_t again;
  std::uint32_t item;
};
struct with_value {
  std::uint32_t const* values;
  __device__ said item(std::uint64_t i) const {
    return {values[i], values[i], static_cast<std::uint32_t>(i)};
  }
  __device__ std::uint64_t operator()(std::uint64_t i, std::uint32_t k, said what) const {
    bool const is_its = what.item == i && what.again == what.value;
    return is_its ? std::uint64_t{what.value} << 32 | k : ~std::uint64_t{0};
  }
};
TEST(allocate, elements_are_told_what_their_item_said) {
  warden::stream s;
  for (auto const& [name, counts] : test::spreads()) {
    SCOPED_TRACE(name);
    std::vector<std::uint32_t> values(counts.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint32_t>(test::mix(i));
    auto const wanted = test::elements_of(counts, [&](std::uint64_t i, std::uint32_t k) {
      return std::uint64_t{values[i]} << 32 | k;
    });
    warden::buffer<std::uint32_t> const device_counts{counts}, device_values{values};
    guarded_memory<std::uint64_t> memory{wanted.size(), 1};
    warden::output out{memory};
    warden::allocate_async<small<warden::ordered>>(counts.size(), counts_in{device_counts.data()},
                                                   with_value{device_values.data()}, out, s);
    ASSERT_EQ(out.wait(s), wanted.size());
    EXPECT_TRUE(memory.to_host(s) == wanted);
  }
}

TEST(allocate, elements_that_begin_within_a_group) {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  auto const wanted = test::elements_of(counts, numbered_as<two_words>{});
  warden::buffer<std::uint32_t> const device_counts{counts};
  warden::buffer<std::uint32_t> words{2 * wanted.size() + 1};
  warden::output out{reinterpret_cast<two_words*>(words.data() + 1), wanted.size()};
  warden::allocate_async<small<warden::ordered>>(counts.size(), counts_in{device_counts.data()},
                                                 numbered_as<two_words>{}, out, s);
  ASSERT_EQ(out.wait(s), wanted.size());
  std::vector<std::uint32_t> const got = words.to_host(s);
  EXPECT_EQ(std::memcmp(got.data() + 1, wanted.data(), wanted.size() * sizeof(two_words)), 0);
}

TEST(allocate, every_item_of_a_large_tile_may_emit) {
  warden::stream s;
  std::vector<std::uint32_t> const counts(2 * 8192 + 5, 1);
  auto const wanted = test::elements_of(counts, numbered_as<std::uint8_t>{});
  warden::buffer<std::uint32_t> const device_counts{counts};
  guarded_memory<std::uint8_t> memory{wanted.size(), 7};
  warden::output out{memory};
  warden::allocate_async<warden::ordered_allocation<1024, 8>>(
      counts.size(), counts_in{device_counts.data()}, numbered_as<std::uint8_t>{}, out, s);
  ASSERT_EQ(out.wait(s), wanted.size());
  EXPECT_TRUE(memory.to_host(s) == wanted);
}

/// Says one more the second time.
struct fickle {
  std::uint32_t* asked;
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return warden::simt::fetch_add(&asked[i], 1u) == 0 ? 1 : 60;
  }
};
TEST(allocate, a_count_that_changes_is_reported) {
  warden::stream s;
  std::size_t const n = 8 * 64 * 3;  // tiles that become long, more than the list has room for
  warden::buffer<std::uint32_t> asked{n};
  asked.fill_bytes(0, s);
  guarded_memory<std::uint64_t> memory{30'000, 0};
  warden::output out{memory};
  warden::allocate_async<small<warden::reduce_then_scan>>(n, fickle{asked.data()}, numbered{}, out,
                                                          s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }),
              HasSubstr("allocate: count(i) returned another value when it was called again"));
  (void)memory.to_host(s);  // nothing beyond
}

/// Says many the first time, and none after that.
struct shrinking {
  std::uint32_t* asked;
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return warden::simt::fetch_add(&asked[i], 1u) == 0 ? 700 : 0;
  }
};
TEST(allocate, a_count_that_shrinks_is_reported) {
  warden::stream s;
  std::size_t const n = 64 * 3;  // elements of a tile whose warps have several windows
  warden::buffer<std::uint32_t> asked{n};
  asked.fill_bytes(0, s);
  guarded_memory<std::uint64_t> memory{n * 700, 0};
  warden::output out{memory};
  warden::allocate_async<small<warden::ordered>>(n, shrinking{asked.data()}, numbered{}, out, s);
  EXPECT_THAT(test::refusal([&] { out.wait(s); }),
              HasSubstr("allocate: count(i) returned another value when it was called again"));
  (void)memory.to_host(s);  // nothing beyond
}

TEST(allocate, the_size_needed_can_be_asked_for) {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  std::vector<std::uint64_t> const wanted = test::elements_of(counts);
  warden::buffer<std::uint32_t> const device_counts{counts};
  warden::output<std::uint64_t> nothing{nullptr, 0};
  warden::allocate_async(counts.size(), counts_in{device_counts.data()}, numbered{}, nothing, s);
  ASSERT_EQ(nothing.needed(s), wanted.size());
  warden::buffer<std::uint64_t> enough{nothing.needed(s)};
  warden::output out{enough, warden::time_limit{}};
  warden::allocate_async(counts.size(), counts_in{device_counts.data()}, numbered{}, out, s);
  EXPECT_EQ(out.wait(s), wanted.size());
  EXPECT_TRUE(enough.to_host(s) == wanted);
}

TEST(allocate, the_usual_policy) {
  warden::stream s;
  std::vector<std::uint32_t> const counts = test::spreads().front().counts;
  auto const wanted = test::elements_of(counts, numbered_as<std::uint32_t>{});
  warden::buffer<std::uint32_t> const device_counts{counts};
  warden::buffer<std::uint32_t> memory{wanted.size()};
  warden::output out{memory};
  warden::allocate_async(counts.size(), counts_in{device_counts.data()},
                         numbered_as<std::uint32_t>{}, out, s);
  ASSERT_EQ(out.wait(s), wanted.size());
  EXPECT_TRUE(memory.to_host(s) == wanted);
}

TEST(allocate, refuses_more_items_than_a_grid_has_blocks) {
  warden::buffer<std::uint64_t> memory{1};
  warden::output out{memory};
  std::uint64_t const most = 2147483647ull * 64 * 3;
  EXPECT_THAT(test::refusal([&] {
                warden::allocate_async<small<warden::ordered>>(most + 1, many{}, numbered{}, out);
              }),
              HasSubstr("allocate: " + std::to_string(most + 1) + " items; the limit is " +
                        std::to_string(most)));
  EXPECT_THAT(test::refusal([&] { (void)out.tiles_async(1ull << 31); }),
              HasSubstr("tiles_async: 2147483648 tiles; the limit is 2147483647"));
  EXPECT_THAT(test::refusal([&] {
                warden::output<std::uint64_t> all{nullptr, 1ull << 60};
              }),
              HasSubstr("output: a capacity of 1152921504606846976; the limit is "));
  EXPECT_THAT(test::refusal([&] {
                warden::output<std::uint64_t> none{nullptr, 1};
              }),
              HasSubstr("output: elements at a null pointer, 1 of them: pass device memory"));
}

}  // namespace
