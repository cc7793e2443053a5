// SPDX-License-Identifier: Apache-2.0
// Combined atomics lose nothing, and are as few as runs of equal ids in a sorted tile.

#include "tests/support/support.cuh"

#include <warden/detail/baseline/atomics_combined.cuh>

#include <set>

namespace {

namespace baseline = warden::baseline;
namespace simt = warden::simt;

struct counter {
  std::uint64_t* atomics;
};
struct add {
  std::uint64_t amount;
  __device__ void operator()(std::uint64_t& sum, warden::no_context) const { sum += amount; }
  __device__ static add combine(add a, add b) { return {a.amount + b.amount}; }
};
struct counted_add {
  std::uint64_t amount;
  __device__ void atomic(std::uint64_t* sum, counter c) const {
    simt::fetch_add(sum, amount);
    simt::fetch_add(c.atomics, std::uint64_t{1});
  }
  __device__ static counted_add combine(counted_add a, counted_add b) {
    return {a.amount + b.amount};
  }
};
/// Distinct amounts: two lost and one doubled do not cancel.
WARDEN_HOST_DEVICE std::uint64_t amount_of(std::uint32_t i) { return test::mix(i) >> 32; }
template <class Section>
struct make {
  __device__ Section operator()(std::uint32_t i) const { return {amount_of(i)}; }
};

/// Ids spread over the records, or with every other operation on record 0.
std::vector<std::uint32_t> make_ids(std::uint32_t n, std::uint32_t keys, bool skewed) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < n; ++i)
    ids.push_back(skewed && test::mix(i) >> 63 != 0 ? 0 : test::id_of(i, keys));
  return ids;
}

/// Result of one execution: sums by record, and the number of atomics.
struct outcome {
  std::vector<std::uint64_t> sums;
  std::uint64_t atomics = 0;
};
template <class Tile, class Section>
outcome run(std::vector<std::uint32_t> const& host_ids, std::uint32_t keys) {
  warden::buffer<std::uint64_t> const atomics{1};
  warden::buffer<std::uint64_t> sums{keys};
  sums.fill_bytes(0);
  warden::copy(atomics.data(), sums.data(), 1);
  warden::buffer<std::uint32_t> const ids{host_ids};
  auto const n = static_cast<std::uint32_t>(host_ids.size());
  if constexpr (std::is_same_v<Section, add>) {
    baseline::work<std::uint64_t, make<add>, warden::no_context> const work{
        sums.data(), ids.data(), n, {}, {}};
    baseline::atomics_combined_async<Tile>(work, keys);
  } else {
    baseline::work<std::uint64_t, make<Section>, counter> const work{
        sums.data(), ids.data(), n, {}, {atomics.data()}};
    baseline::atomics_combined_async<Tile>(work, keys);
  }
  return {sums.to_host(), atomics.to_host()[0]};
}

std::vector<std::uint64_t> wanted_sums(std::vector<std::uint32_t> const& ids, std::uint32_t keys) {
  std::vector<std::uint64_t> sums(keys);
  for (std::uint32_t i = 0; i < ids.size(); ++i) sums[ids[i]] += amount_of(i);
  return sums;
}

template <class Tile>
std::uint64_t wanted_atomics(std::vector<std::uint32_t> const& ids) {
  std::uint64_t runs = 0;
  for (std::size_t first = 0; first < ids.size(); first += Tile::operations) {
    auto const end = std::min(ids.size(), first + Tile::operations);
    runs += std::set<std::uint32_t>(ids.begin() + first, ids.begin() + end).size();
  }
  return runs;
}

using small_tile = baseline::combining_tile<32, 4>;
using usual_tile = baseline::combining_tile<256, 16>;

template <class Tile>
void check(std::uint32_t n, std::uint32_t keys, bool skewed = false) {
  SCOPED_TRACE("n = " + std::to_string(n) + ", keys = " + std::to_string(keys) +
               (skewed ? ", skewed" : ""));
  auto const ids = make_ids(n, keys, skewed);
  outcome const seen = run<Tile, counted_add>(ids, keys);
  EXPECT_EQ(seen.sums, wanted_sums(ids, keys));
  if (keys <= Tile::operations) {
    EXPECT_EQ(seen.atomics, wanted_atomics<Tile>(ids));
  } else {
    EXPECT_LE(seen.atomics, n);
    EXPECT_GE(seen.atomics, wanted_atomics<Tile>(ids));
  }
}

TEST(combined, every_size) {
  for (std::uint32_t const keys : {1u, 2u, 7u, 100u, 128u}) {
    for (std::uint32_t const n : {0u, 1u, 2u, 31u, 33u, 127u, 128u, 129u, 1111u})
      check<small_tile>(n, keys);
  }
}
TEST(combined, more_records_than_buckets) {
  for (std::uint32_t const n : {1u, 127u, 128u, 1111u}) check<small_tile>(n, 129);
  check<small_tile>(1111, 100'000);
}
TEST(combined, one_atomic_a_tile_for_a_hot_record) {
  auto const n = test::sized(1111u, 1'000'003u);
  std::vector<std::uint32_t> const ids(n);
  auto const seen = run<small_tile, counted_add>(ids, 1);
  EXPECT_EQ(seen.sums, wanted_sums(ids, 1));
  EXPECT_EQ(seen.atomics, (n + 127) / 128);
}
TEST(combined, a_hot_record_among_many) {
  for (std::uint32_t const keys : {100u, 1000u}) check<small_tile>(1111, keys, true);
  // The sort brings the hot record's operations together, though it does not know whole ids.
  auto const ids = make_ids(1111, 100'000, true);
  EXPECT_LT((run<small_tile, counted_add>(ids, 100'000).atomics), 1111u * 2 / 3);
}
TEST(combined, the_usual_tile) {
  for (std::uint32_t const keys : {1u, 1000u, 10'000u}) {
    check<usual_tile>(5, keys);
    check<usual_tile>(test::sized(5001u, 1'000'003u), keys);
    check<usual_tile>(4096, keys, true);
  }
}
TEST(combined, by_compare_and_swap) {
  auto const ids = make_ids(1111, 9, false);
  EXPECT_EQ((run<small_tile, add>(ids, 9).sums), wanted_sums(ids, 9));
}

}  // namespace
