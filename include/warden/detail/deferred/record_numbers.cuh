// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of records in a log: their ids, or, for records spread over ranks, a number that holds
/// rank and place.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Numbers of the records of one device: their ids.
struct plain_numbers {
  /// Returns the number of record `id`.
  WARDEN_DEVICE static std::uint32_t number(std::uint64_t id) {
    return static_cast<std::uint32_t>(id);
  }
  /// Returns the record of a number among those of this device.
  WARDEN_DEVICE static std::uint32_t own(std::uint32_t number) { return number; }
  /// Returns the id of a record of this device: the inverse.
  WARDEN_DEVICE static record_id id_of(std::uint32_t own) { return {own}; }
};

/// Numbers of records spread over ranks: the place in the rank's share, with the rank inserted
/// above its lowest `low` bits. The bits up to the rank name the partition. A log whose partitions
/// are dealt out by numbers thus holds the partitions of one rank next to each other, rank by rank.
struct rank_bits {
  std::uint32_t low = 0;         ///< bits of the place below the rank's
  std::uint32_t ranks_log2 = 0;  ///< bits of the rank

  /// Returns the number of the record at a place; `server` is the rank.
  WARDEN_DEVICE std::uint32_t number(record_location place) const {
    std::uint32_t const within = (1u << low) - 1;
    return (place.local >> low << ranks_log2 | place.server) << low | (place.local & within);
  }
  /// Returns the place of a number: the inverse.
  WARDEN_DEVICE record_location place(std::uint32_t number) const {
    std::uint32_t const within = (1u << low) - 1, above = number >> low;
    return {above & ((1u << ranks_log2) - 1), above >> ranks_log2 << low | (number & within)};
  }
  /// Returns a limit above all numbers, if a rank has `locals` places.
  [[nodiscard]] std::uint64_t limit(std::uint64_t locals) const {
    return (locals + (std::uint64_t{1} << low) - 1) >> low << ranks_log2 << low;
  }
};

/// Numbers for senders. `Map` maps records to ranks.
template <class Map>
struct sent_numbers {
  Map ranks{};       ///< map from record id to rank and place in its share
  rank_bits bits{};  ///< format of the number

  /// Returns the number of record `id`.
  WARDEN_DEVICE std::uint32_t number(std::uint64_t id) const {
    return bits.number(ranks(static_cast<std::uint32_t>(id)));
  }
};

/// Numbers for a run.
struct own_numbers {
  rank_bits bits{};        ///< format of the numbers
  std::uint32_t rank = 0;  ///< this rank

  /// Returns the place of a number's record in this rank's share; a place above all others if
  /// another rank has it.
  WARDEN_DEVICE std::uint32_t own(std::uint32_t number) const {
    record_location const place = bits.place(number);
    return place.server == rank ? place.local : ~0u;
  }
};

/// Numbers for a run whose sections take ids. Others need no map.
template <class Map>
struct own_numbers_and_ids : own_numbers {
  Map ranks{};  ///< map from record id to rank and place in its share

  /// Returns the id of the record at a place in this rank's share.
  WARDEN_DEVICE record_id id_of(std::uint32_t place) const { return {ranks.id({rank, place})}; }
};

/// True if a policy's records are spread over ranks.
template <class Policy>
inline constexpr bool is_spread = requires {
  typename Policy::rank_map;
};

template <class Policy, bool TakesIds>
struct numbers_of {
  using sent = plain_numbers;
  using own = plain_numbers;
};
template <class Policy, bool TakesIds>
requires is_spread<Policy>
struct numbers_of<Policy, TakesIds> {
  using sent = sent_numbers<typename Policy::rank_map>;
  using own =
      std::conditional_t<TakesIds, own_numbers_and_ids<typename Policy::rank_map>, own_numbers>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
