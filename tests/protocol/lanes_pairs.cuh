// SPDX-License-Identifier: Apache-2.0
// Sections on two records that several lanes run: in rounds, and under the locks of one owner.
#pragma once

#include "tests/protocol/lanes.cuh"

#include <warden/deferred_pairs.cuh>

namespace together {

/// Adds to two rows, which may be one.
template <unsigned Lanes>
struct add_to_both : add<Lanes> {
  __device__ static add_to_both of(std::uint32_t i) { return {add<Lanes>::of(i)}; }
  __device__ void operator()(row& first, row& second,
                             warden::lane_group<Lanes> const& group) const {
    add<Lanes>::operator()(first, group);
    group.sync();
    add<Lanes>::operator()(second, group);
  }
};
using by_wide = add_to_both<16>;
using by_narrow = add_to_both<2>;

WARDEN_HOST_DEVICE std::uint32_t other_of(std::uint32_t i, std::uint32_t keys) {
  return test::id_of(std::uint64_t{i} + 1'000'000, keys);
}
/// Sends operation i; every fourth one is on one record, if the log has such sections.
template <bool HasSingles, class Ref>
__device__ void send_pair(Ref const& ref, std::uint32_t i, std::uint32_t keys,
                          std::uint32_t others) {
  std::uint32_t const first = test::id_of(i, keys), second = other_of(i, others);
  if (i % 4 == 0) ref.send(first, second, by_wide::of(i));
  if (i % 4 == 1 || i % 4 == 2) ref.send(first, second, by_narrow::of(i));
  if constexpr (HasSingles) {
    if (i % 4 == 3) ref.send(first, add_alone::of(i));
  }
}
template <class Ref>
struct sending_pairs {
  Ref ref;
  std::uint32_t n, keys, others;
};
template <bool HasSingles, class Ref>
WARDEN_KERNEL void send_pairs(sending_pairs<Ref> a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) send_pair<HasSingles>(a.ref, i, a.keys, a.others);
}

/// Checks the rows, of one array or of two, after the operations 0 .. n-1 have run.
inline void expect_pairs(std::vector<row> const& rows, std::vector<row> const& others,
                         std::uint32_t n, bool has_singles, bool is_one_array) {
  std::vector<row> wanted(rows.size(), row{}), wanted_others(others.size(), row{});
  auto const give = [](row& r, std::uint32_t i) {
    r.words[0] += add<1>::value_of(i);
    ++r.count;
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    bool const is_pair = i % 4 != 3;
    if (!is_pair && !has_singles) continue;
    give(wanted[test::id_of(i, static_cast<std::uint32_t>(rows.size()))], i);
    auto& second = is_one_array ? wanted : wanted_others;
    if (is_pair) give(second[other_of(i, static_cast<std::uint32_t>(others.size()))], i);
  }
  auto const compare = [](std::vector<row> const& seen, std::vector<row> const& right) {
    for (std::size_t k = 0; k < seen.size(); ++k) {
      ASSERT_EQ(seen[k].count, right[k].count) << "lost or doubled section on record " << k;
      ASSERT_EQ(seen[k].apart, 0u) << "lanes saw another section half done, on record " << k;
      for (std::uint32_t const w : seen[k].words)
        ASSERT_EQ(w, right[k].words[0]) << "lost or doubled section on record " << k;
    }
  };
  compare(rows, wanted);
  if (!is_one_array) compare(others, wanted_others);
}

/// Parts of records are on chip where they fit.
using in_rounds = warden::policy<warden::options{.block_threads = 32}>;

/// In rounds, between the tiles of one array.
inline void defer_pairs(std::uint32_t n, std::uint32_t keys, unsigned partitions) {
  using guarded = warden::basic_guarded<in_rounds, row, by_wide, by_narrow, add_alone>;
  using arguments = sending_pairs<typename guarded::deferred_ref>;
  test::guarded_records<guarded> g{keys};
  warden::deferred later{g.guarded, n, {.partitions = partitions}};
  simt::launch(&send_pairs<true, typename guarded::deferred_ref>, (n + 63) / 64, 64, 0,
               arguments{later.ref(), n, keys, keys}, {});
  later.run();
  g.guarded.wait();
  auto const rows = g.records.to_host();
  expect_pairs(rows, rows, n, true, true);
}
/// Defers the sections between two arrays.
inline void defer_between(std::uint32_t n, std::uint32_t keys, std::uint32_t others,
                          unsigned partitions) {
  using guarded = warden::basic_guarded<in_rounds, row, add_alone>;
  test::guarded_records<guarded> g{keys}, h{others};
  using log = warden::deferred_between<guarded, guarded, by_wide, by_narrow>;
  log later{g.guarded, h.guarded, n, {.partitions = partitions}};
  auto const ref = later.ref();
  using ref_type = std::remove_const_t<decltype(ref)>;
  simt::launch(&send_pairs<false, ref_type>, (n + 63) / 64, 64, 0,
               sending_pairs<ref_type>{ref, n, keys, others}, {});
  later.run();
  g.guarded.wait();
  h.guarded.wait();
  expect_pairs(g.records.to_host(), h.records.to_host(), n, false, false);
}

/// Sends all by threads of a fused launch.
struct send_pairs_fused {
  std::uint32_t n, keys;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::thread_client<Ref> const client{ref, at};
    for (auto i = static_cast<std::uint32_t>(at.global_rank()); i < n;
         i += static_cast<std::uint32_t>(at.global_size()))
      send_pair<true>(client, i, keys, keys);
  }
};
/// Under the locks of the only owner.
template <class Policy>
void send_pairs_to_one(std::uint32_t n, std::uint32_t keys) {
  warden::guarded_options options;
  options.servers = 1;
  test::guarded_records<warden::basic_guarded<Policy, row, by_wide, by_narrow, add_alone>> g{
      keys, options};
  warden::launch_fused(send_pairs_fused{n, keys}, 3, 64, {}, g.guarded);
  g.guarded.wait();
  auto const rows = g.records.to_host();
  expect_pairs(rows, rows, n, true, true);
}

}  // namespace together
