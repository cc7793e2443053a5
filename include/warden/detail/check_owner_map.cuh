// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether an owner map that a user wrote gives each record a place of its own.
#pragma once

#include <warden/owner_map.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The first wrong place found.
struct owner_complaint {
  std::uint64_t records;  ///< with wrong places
  std::uint32_t id;
  owner place;
  std::uint32_t back;  ///< the record at that place, as the map says
};

template <class Map>
struct owner_map_check {
  Map map;
  std::uint64_t size;
  std::uint32_t locals;
  owner_complaint* complaint;
};

/// A map that its own inverse undoes gives no two records one place.
template <class Map>
WARDEN_KERNEL void check_owner_map(owner_map_check<Map> check) {
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t i =
           std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
       i < check.size; i += step) {
    auto const id = static_cast<std::uint32_t>(i);
    owner const place = check.map(id);
    std::uint32_t const back = check.map.id(place);
    bool const good =
        place.server < check.map.servers() && place.local < check.locals && back == id;
    if (good || simt::fetch_add(&check.complaint->records, std::uint64_t{1}) != 0) continue;
    check.complaint->id = id;
    check.complaint->place = place;
    check.complaint->back = back;
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
