// SPDX-License-Identifier: Apache-2.0
/// @file
/// Maps from records to their owners: record ids are dealt out to the servers in turn [Wang 2020,
/// section 4.2.1].
#pragma once

#include <warden/simt/simt.cuh>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Place of a record: its owner, and its number among the owner's records.
struct record_location {
  std::uint32_t server;  ///< the owner
  std::uint32_t local;   ///< number among the owner's records
};

/// Requirements on a policy's `owner_map`: a trivially copyable type that maps record ids to places
/// and back.
/// - `map(id)`, in device code, returns the place of record `id`.
/// - `map.id(place)`, in device code, returns the record of a place, or a number that is not below
///   the number of records if the place holds no record.
/// - `map.servers()`, on host and device, returns the number of servers.
/// - `map.locals(size)`, on the host, returns the largest number of places of one server, for
///   `size` records.
///
/// The first fused launch of a guarded array, and the constructor of a spread_guarded, check the
/// map. Precondition: memory that the map reads holds its contents by then.
template <class Map>
concept owner_map = std::is_trivially_copyable_v<Map> && std::is_default_constructible_v<Map> &&
    requires(Map const& map, std::uint32_t id, record_location place, std::uint64_t size) {
  { map(id) } -> std::same_as<record_location>;
  { map.id(place) } -> std::convertible_to<std::uint32_t>;
  { map.servers() } -> std::convertible_to<std::uint32_t>;
  { map.locals(size) } -> std::convertible_to<std::uint64_t>;
};

/// Default map: chunks of `chunk` adjacent records are dealt out to the servers in turn. The
/// division by the number of servers is the high word of a product with the rounded-down
/// reciprocal. That is the quotient or one less, for every 32-bit number; the remainder tells
/// which.
class interleaved_owner_map {
 public:
  /// Indeterminate. Assign before use.
  interleaved_owner_map() = default;
  /// Makes a map. Precondition: `servers` is at least 1, and `chunk` is a power of two. A chunk of
  /// 2 gives records 2k and 2k + 1 the same owner.
  interleaved_owner_map(std::uint32_t servers, std::uint32_t chunk)
      : reciprocal_{static_cast<std::uint32_t>(
            std::min<std::uint64_t>((std::uint64_t{1} << 32) / servers, 0xffffffffu))},
        servers_{servers} {
    while ((1u << chunk_log2_) < chunk) ++chunk_log2_;
  }

  /// Returns the place of record `id`.
  WARDEN_DEVICE record_location operator()(std::uint32_t id) const {
    std::uint32_t const number = id >> chunk_log2_;
    std::uint32_t turn = simt::multiply_high(reciprocal_, number);
    std::uint32_t server = number - turn * servers_;
    if (server >= servers_) {
      server -= servers_;
      ++turn;
    }
    return {server, turn << chunk_log2_ | (id & within())};
  }
  /// Returns the id of the record at a place: the inverse.
  WARDEN_DEVICE std::uint32_t id(record_location place) const {
    std::uint32_t const number = (place.local >> chunk_log2_) * servers_ + place.server;
    return number << chunk_log2_ | (place.local & within());
  }
  /// Returns the number of servers.
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return servers_; }
  /// Returns the number of adjacent records that have the same owner.
  WARDEN_HOST_DEVICE std::uint32_t chunk() const { return 1u << chunk_log2_; }
  /// Returns the largest number of places that one server needs for `size` records.
  WARDEN_HOST_DEVICE std::uint64_t locals(std::uint64_t size) const {
    std::uint64_t const dealt = std::uint64_t{servers_} << chunk_log2_;
    return (size + dealt - 1) / dealt << chunk_log2_;
  }

 private:
  WARDEN_HOST_DEVICE std::uint32_t within() const { return (1u << chunk_log2_) - 1; }

  std::uint32_t reciprocal_;
  std::uint32_t servers_;
  std::uint32_t chunk_log2_ = 0;
};

WARDEN_NAMESPACE_END
