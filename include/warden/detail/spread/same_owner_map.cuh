// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that all ranks have the same owner map, so that each record has the same rank and place
/// for all of them.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/spread/rank_channel.cuh>
#include <warden/error.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <array>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

template <class Map>
struct owner_map_sum {
  Map map;
  std::uint64_t size;
  std::uint64_t* sum;  ///< 0 before the launch
};
/// Adds a word for each record, a hash of its id, its rank and its place. Grid: any.
template <class Map>
WARDEN_KERNEL void add_up_owner_map(owner_map_sum<Map> a) {
  simt::assume_one_dimension();
  std::uint64_t const rank =
      std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  std::uint64_t sum = 0;
  for (std::uint64_t id = rank; id < a.size; id += step) {
    record_location const place = a.map(static_cast<std::uint32_t>(id));
    // The last step of a splitmix64 generator.
    std::uint64_t x = (std::uint64_t{place.server} << 32 | place.local) + id * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    sum += x ^ x >> 31;
  }
  simt::fetch_add(a.sum, sum);
}

/// Throws limit_error, on all ranks, unless all have the same map of `size` records and equally
/// many places. Collective over the ranks; blocks the host.
template <class Map>
void demand_same_owner_map(communicator const& world, Map const& map, std::uint64_t size,
                           std::source_location where) {
  buffer<std::uint64_t> sum{1, where};
  sum.fill_bytes(0, {}, where);
  simt::launch(&add_up_owner_map<Map>, 64, 128, 0, {map, size, sum.data()}, {}, where);
  std::uint64_t const own_sum = sum.to_host({}, where)[0];
  constexpr std::uint32_t words = 4;
  std::array<std::uint32_t, words> const own_words{
      static_cast<std::uint32_t>(own_sum >> 32), static_cast<std::uint32_t>(own_sum),
      static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(map.locals(size))};
  rank_channel channel{world, words, where};
  auto const all = channel.gather(own_words, where);
  for (std::size_t w = words; w < all.size(); ++w) {
    if (all[w] == all[w % words]) continue;
    throw_limit_error(
        "spread_guarded: rank % has another owner map than rank 0, or another number of records: "
        "all ranks make the same guarded array",
        {w / words}, where);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
