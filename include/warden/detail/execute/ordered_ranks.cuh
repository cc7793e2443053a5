// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks the messages of a window among those of their owner, in their order.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Ranks the messages of owners below `Limit`. Collective over the warp.
template <unsigned Limit, class Ranks, class Message, unsigned PerThread, class OwnerOf>
WARDEN_DEVICE void rank_below(Ranks& ranks, Message const (&m)[PerThread], unsigned arrived,
                              OwnerOf owner_of, std::uint32_t (&rank)[PerThread]) {
  WARDEN_UNROLL
  for (unsigned k = 0; k < PerThread; ++k) {
    bool const is_message = (arrived >> k & 1u) != 0;
    rank[k] = ranks.template rank<Limit>(is_message ? owner_of(m[k]) : 0, is_message);
  }
}
/// Ranks the messages if most threads own records. Collective over the warp.
template <class Ranks, class Message, unsigned PerThread, class OwnerOf>
WARDEN_DEVICE void rank_among_many(Ranks& ranks, Message const (&m)[PerThread], unsigned arrived,
                                   OwnerOf owner_of, std::uint32_t (&rank)[PerThread]) {
  typename Ranks::counted counted[PerThread];
  WARDEN_UNROLL
  for (unsigned k = 0; k < PerThread; ++k) {
    bool const is_message = (arrived >> k & 1u) != 0;
    counted[k] = ranks.count(is_message ? owner_of(m[k]) : 0, is_message);
  }
  WARDEN_UNROLL
  for (unsigned k = 0; k < PerThread; ++k) {
    bool const is_message = (arrived >> k & 1u) != 0;
    rank[k] = Ranks::rank_of_counted(counted[k], is_message ? owner_of(m[k]) : 0, is_message);
  }
}
/// Ranks the messages of `owners` owners, in a block of `Threads` threads. Few bits are compared if
/// few threads own records, and none if most do: messages of a warp then seldom have a common
/// owner. Collective over the warp.
template <unsigned Threads, class Ranks, class Message, unsigned PerThread, class OwnerOf>
WARDEN_DEVICE void rank_by_owner(Ranks& ranks, std::uint32_t owners, Message const (&m)[PerThread],
                                 unsigned arrived, OwnerOf owner_of,
                                 std::uint32_t (&rank)[PerThread]) {
  if (owners <= simt::warp_size) {
    rank_below<simt::warp_size>(ranks, m, arrived, owner_of, rank);
  } else if (owners <= Threads / 2) {
    rank_below<Threads / 2>(ranks, m, arrived, owner_of, rank);
  } else {
    rank_among_many(ranks, m, arrived, owner_of, rank);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
