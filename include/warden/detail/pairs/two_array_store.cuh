// SPDX-License-Identifier: Apache-2.0
/// @file
/// Store of the records of a tile of one array and of a tile of another, while a block runs the
/// sections between them: on chip, or in global memory if they do not fit the chip.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/detail/pairs/pair_store.cuh>
#include <warden/detail/pairs/tile_copies.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Records of one tile of each of two arrays; pair_store is for two tiles of one array. A slot
/// below the size of the first tile is one of its records, any other slot is one of the second
/// tile's.
template <class Ref>
class two_array_store {
 public:
  /// Type of the first array's items.
  using first_record = typename Ref::record;
  /// Type of the second array's items.
  using second_record = typename Ref::second_record;
  /// True if the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;
  /// Copies of the first array's records.
  using first_copies = tile_copies<first_record, on_chip, Ref::group_size>;
  /// Copies of the second array's records.
  using second_copies = tile_copies<second_record, on_chip, Ref::group_size>;
  /// Pieces of shared memory.
  struct pieces {
    arena_piece<first_record> first;    ///< for records of the first array
    arena_piece<second_record> second;  ///< for records of the second array
  };

  /// Returns the pieces for tiles of these sizes; empty if they are in memory.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, tile_sizes sizes) {
    auto const first = first_copies::carve(carver, sizes.first);
    return {first, second_copies::carve(carver, sizes.second)};
  }

  /// Constructs a store. `storage` is the shared memory in which `at` was carved, the same for the
  /// whole block.
  WARDEN_DEVICE two_array_store(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref}, firsts_{at.first.in(storage)}, seconds_{at.second.in(storage)} {}

  /// Sets the tiles to which slots refer; loads nothing.
  WARDEN_DEVICE void hold(two_tiles pair) {
    first_tile_ = pair.a;
    second_tile_ = ref_.bins.schedule.other_of(pair.b);
  }
  /// Loads one record.
  WARDEN_DEVICE void load(std::uint32_t slot) const {
    if constexpr (on_chip) {
      if (is_first(slot)) {
        *first(slot) = *ref_.record_of(first_tile_, slot);
      } else {
        *second(slot) = *ref_.seconds().record_of(second_tile_, slot - ref_.locals);
      }
    }
  }
  /// Writes one record back.
  WARDEN_DEVICE void write_back(std::uint32_t slot) const {
    if constexpr (on_chip) {
      if (is_first(slot)) {
        *ref_.record_of(first_tile_, slot) = *first(slot);
      } else {
        *ref_.seconds().record_of(second_tile_, slot - ref_.locals) = *second(slot);
      }
    }
  }

  /// Sets the tiles and loads their records. Collective; a block barrier follows.
  WARDEN_DEVICE void load(two_tiles pair) {
    hold(pair);
    firsts_.load(firsts(), ref_.sizes().first);
    seconds_.load(seconds(), ref_.sizes().second);
  }
  /// Writes the records back. Collective, after all sections have run and after a barrier.
  WARDEN_DEVICE void write_back() const {
    firsts_.write_back(firsts(), ref_.sizes().first);
    seconds_.write_back(seconds(), ref_.sizes().second);  // mutation: second-back
  }

  /// Returns the slot of a tile's record; `side` is 0 for the first tile, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return side * ref_.locals + local;
  }
  /// Returns the record of the first array for sections.
  WARDEN_DEVICE first_record* first(std::uint32_t slot) const {
    if constexpr (on_chip) {
      return &firsts_[slot];
    } else {
      return ref_.record_of(first_tile_, slot);
    }
  }
  /// Returns the record of the second array for sections.
  WARDEN_DEVICE second_record* second(std::uint32_t slot) const {
    if constexpr (on_chip) {
      return &seconds_[slot - ref_.locals];
    } else {
      return ref_.seconds().record_of(second_tile_, slot - ref_.locals);
    }
  }
  /// Returns the record's address in global memory, which identifies it wherever its copy is.
  WARDEN_DEVICE void* address_of(std::uint32_t slot) const {
    if (is_first(slot)) return ref_.record_of(first_tile_, slot);
    return ref_.seconds().record_of(second_tile_, slot - ref_.locals);
  }

 private:
  /// A tile's records; their slots are their numbers.
  template <class Record, class Array>
  struct places {
    Array const& array;
    std::uint32_t tile;

    /// Returns true if the slot has a record: the last tiles have fewer records than the first.
    WARDEN_DEVICE bool is_record(std::uint32_t slot) const {
      return slot < array.locals && array.owners.id({tile, slot}) < array.size;
    }
    WARDEN_DEVICE Record* address_of(std::uint32_t slot) const {
      return array.record_of(tile, slot);
    }
  };
  using second_array = std::remove_cvref_t<decltype(std::declval<Ref const&>().seconds())>;
  WARDEN_DEVICE places<first_record, Ref> firsts() const { return {ref_, first_tile_}; }
  WARDEN_DEVICE places<second_record, second_array> seconds() const {
    return {ref_.seconds(), second_tile_};
  }
  WARDEN_DEVICE bool is_first(std::uint32_t slot) const { return slot < ref_.locals; }

  Ref const& ref_;
  first_copies firsts_;
  second_copies seconds_;
  std::uint32_t first_tile_ = 0, second_tile_ = 0;
};

/// Store that a run needs.
template <class Ref>
using rounds_store = std::conditional_t<Ref::two_arrays, two_array_store<Ref>, pair_store<Ref>>;

}  // namespace detail
WARDEN_NAMESPACE_END
