// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which server owns a record: record ids are dealt out to the servers in turn [Wang 2020,
/// section 4.2.1].
#pragma once

#include <warden/simt/simt.cuh>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Where a record lives: its owner, and its number among the owner's records.
struct record_location {
  std::uint32_t server;  ///< the owner
  std::uint32_t local;   ///< number among the owner's records
};

/// What a policy's `owner_map` must be: a trivially copyable type that says in device code where a
/// record lives, and which record lives at a place. `id(place)` is not below the number of records
/// where no record lives. `servers()` is for host and device; `locals(size)`, for the host, are
/// the places of one server, at most, for `size` records. A guarded array checks a map that it is
/// given, when it is made: memory that the map looks at must hold its contents by then.
template <class Map>
concept owner_map = std::is_trivially_copyable_v<Map> && std::is_default_constructible_v<Map> &&
    requires(Map const& map, std::uint32_t id, record_location place, std::uint64_t size) {
  { map(id) } -> std::same_as<record_location>;
  { map.id(place) } -> std::convertible_to<std::uint32_t>;
  { map.servers() } -> std::convertible_to<std::uint32_t>;
  { map.locals(size) } -> std::convertible_to<std::uint64_t>;
};

/// The library's own map: chunks of `chunk` neighbouring records are dealt out to the servers in
/// turn. The division by the number of servers is the high word of a product with the rounded-down
/// reciprocal, which is the quotient or one less for every 32-bit number; the remainder tells.
class interleaved_owner_map {
 public:
  /// Indeterminate: assign before use.
  interleaved_owner_map() = default;
  /// `servers` is at least 1, `chunk` a power of two: 2 puts records 2k and 2k + 1 together.
  interleaved_owner_map(std::uint32_t servers, std::uint32_t chunk)
      : reciprocal_{static_cast<std::uint32_t>(
            std::min<std::uint64_t>((std::uint64_t{1} << 32) / servers, 0xffffffffu))},
        servers_{servers} {
    while ((1u << chunk_log2_) < chunk) ++chunk_log2_;
  }

  /// Where record `id` lives.
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
  /// The inverse: the id of a server's record.
  WARDEN_DEVICE std::uint32_t id(record_location place) const {
    std::uint32_t const number = (place.local >> chunk_log2_) * servers_ + place.server;
    return number << chunk_log2_ | (place.local & within());
  }
  /// Servers the records are dealt out to.
  WARDEN_HOST_DEVICE std::uint32_t servers() const { return servers_; }
  /// Neighbouring records that have the same owner.
  WARDEN_HOST_DEVICE std::uint32_t chunk() const { return 1u << chunk_log2_; }
  /// Local numbers that one server needs for `size` records, at most.
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
