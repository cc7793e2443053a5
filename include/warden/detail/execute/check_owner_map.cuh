// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that a user's owner map gives each record its own place, and each place at most one
/// record.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The first disagreement found.
struct owner_map_fault {
  std::uint64_t count;
  std::uint32_t id;
  record_location place;
};

template <class Map>
struct owner_map_check {
  Map map;
  std::uint64_t size;
  std::uint32_t locals;
  owner_map_fault* fault;

  WARDEN_DEVICE void note(std::uint32_t id, record_location place) const {
    if (simt::fetch_add(&fault->count, std::uint64_t{1}) != 0) return;
    fault->id = id;
    fault->place = place;
  }
};

/// Checks a map in both directions. The place of a record must be a server's, and must lead back to
/// the record. The record of a place must live there, unless the place has none: a server with
/// records on chip asks for the records of all its places.
template <class Map>
WARDEN_KERNEL void check_owner_map(owner_map_check<Map> check) {
  simt::assume_one_dimension();
  std::uint64_t const rank =
      std::uint64_t{simt::block_rank()} * simt::block_threads() + simt::thread_rank();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t i = rank; i < check.size; i += step) {
    auto const id = static_cast<std::uint32_t>(i);
    record_location const place = check.map(id);
    bool const exists = place.server < check.map.servers() && place.local < check.locals;
    if (!exists || check.map.id(place) != id) check.note(id, place);
  }
  for (std::uint32_t server = 0; server < check.map.servers(); ++server) {
    for (std::uint64_t i = rank; i < check.locals; i += step) {
      record_location const place{server, static_cast<std::uint32_t>(i)};
      std::uint32_t const id = check.map.id(place);
      if (id >= check.size) continue;
      record_location const home = check.map(id);
      if (home.server != place.server || home.local != place.local) check.note(id, place);
    }
  }
}

/// Returns the error text of a map for `size` records with `locals` places for each server; empty
/// if there is none. Blocks the host.
template <class Map>
std::string owner_map_error(Map const& map, std::size_t size, std::uint32_t locals,
                            std::source_location where) {
  buffer<owner_map_fault> fault{1, where};
  fault.fill_bytes(0, {}, where);
  simt::launch(&check_owner_map<Map>, 64, 128, 0, {map, size, locals, fault.data()}, {}, where);
  auto const found = fault.to_host({}, where)[0];
  if (found.count == 0) return {};
  return "the owner map is inconsistent about record " + std::to_string(found.id) + " and place " +
         std::to_string(found.place.local) + " of server " + std::to_string(found.place.server) +
         " (" + std::to_string(found.count) + " such places); it has " +
         std::to_string(map.servers()) + " servers of " + std::to_string(locals) + " places";
}

}  // namespace detail
WARDEN_NAMESPACE_END
