// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a log calls its records: their ids, or where they are spread over ranks, a number that says
/// rank and place.
#pragma once

#include <warden/owner_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The records of one device: a log calls them by their ids.
struct plain_numbers {
  /// What a log calls record `id`.
  WARDEN_DEVICE static std::uint32_t number(std::uint64_t id) {
    return static_cast<std::uint32_t>(id);
  }
  /// The record of that number among this device's.
  WARDEN_DEVICE static std::uint32_t own(std::uint32_t number) { return number; }
};

/// Numbers of records spread over ranks: the place in the rank's share, with the rank's number
/// above its lowest `low` bits. These say the partition, so that a log whose partitions are dealt
/// out by numbers has those of one rank side by side, rank by rank.
struct rank_bits {
  std::uint32_t low = 0;         ///< bits of the place below the rank's
  std::uint32_t ranks_log2 = 0;  ///< bits of the rank

  /// The number of the record at a place; `server` is the rank.
  WARDEN_DEVICE std::uint32_t number(record_location place) const {
    std::uint32_t const within = (1u << low) - 1;
    return (place.local >> low << ranks_log2 | place.server) << low | (place.local & within);
  }
  /// The inverse.
  WARDEN_DEVICE record_location place(std::uint32_t number) const {
    std::uint32_t const within = (1u << low) - 1, above = number >> low;
    return {above & ((1u << ranks_log2) - 1), above >> ranks_log2 << low | (number & within)};
  }
  /// All numbers are below this where a rank has so many places.
  [[nodiscard]] std::uint64_t limit(std::uint64_t locals) const {
    return (locals + (std::uint64_t{1} << low) - 1) >> low << ranks_log2 << low;
  }
};

/// Numbers as those who send need them: `Map` says which rank a record belongs to.
template <class Map>
struct sent_numbers {
  Map ranks{};       ///< record id to rank and place in its share
  rank_bits bits{};  ///< how that becomes a number

  /// What a log calls record `id`.
  WARDEN_DEVICE std::uint32_t number(std::uint64_t id) const {
    return bits.number(ranks(static_cast<std::uint32_t>(id)));
  }
};

/// Numbers as a run needs them.
struct own_numbers {
  rank_bits bits{};        ///< how numbers are made
  std::uint32_t rank = 0;  ///< this one

  /// The place of the record of that number in this rank's share; beyond all if it is another
  /// rank's.
  WARDEN_DEVICE std::uint32_t own(std::uint32_t number) const {
    record_location const place = bits.place(number);
    return place.server == rank ? place.local : ~0u;
  }
};

/// Whether a policy's records are spread over ranks.
template <class Policy>
inline constexpr bool is_spread = requires {
  typename Policy::rank_map;
};

template <class Policy>
struct numbers_of {
  using sent = plain_numbers;
  using own = plain_numbers;
};
template <class Policy>
requires is_spread<Policy>
struct numbers_of<Policy> {
  using sent = sent_numbers<typename Policy::rank_map>;
  using own = own_numbers;
};

}  // namespace detail
WARDEN_NAMESPACE_END
