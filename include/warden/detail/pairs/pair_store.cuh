// SPDX-License-Identifier: Apache-2.0
/// @file
/// Store of the records of two tiles, while a block runs the sections between them: on chip, or in
/// global memory if two tiles do not fit the chip.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/detail/pairs/tile_copies.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Maximum of records in the two tiles that a block holds.
struct tile_sizes {
  std::uint32_t first;   ///< records of the first tile
  std::uint32_t second;  ///< records of the second tile

  /// Returns the average number of records of a tile.
  WARDEN_HOST_DEVICE constexpr std::uint32_t mean() const {
    return least() + ((first < second ? second : first) - least()) / 2;
  }
  /// Returns the number of records of the smaller tile.
  WARDEN_HOST_DEVICE constexpr std::uint32_t least() const {
    return first < second ? first : second;
  }
};

/// Records of two tiles of one array, or of one tile. A record's *slot* is its number in its tile;
/// slots of the second tile follow all those of the first. `Ref::policy::records` is their
/// placement.
template <class Ref>
class pair_store {
 public:
  /// Type of one protected item.
  using record = typename Ref::record;
  /// True if the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;
  /// Copies of the records.
  using copies = tile_copies<record, on_chip, Ref::group_size>;
  /// Pieces of shared memory.
  using pieces = arena_piece<record>;

  /// Returns the piece for two tiles of these sizes; empty if they are in memory.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, tile_sizes sizes) {
    return copies::carve(carver, std::size_t{2} * sizes.first);
  }

  /// Constructs a store. `storage` is the shared memory in which `at` was carved, the same for the
  /// whole block.
  WARDEN_DEVICE pair_store(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref}, copies_{at.in(storage)} {}

  /// Sets the tiles to which slots refer. Their records are loaded one by one before a block
  /// barrier, and written back after one. Several threads may do that to one record at once: they
  /// write the same value.
  WARDEN_DEVICE void hold(two_tiles pair) { pair_ = pair; }
  /// Loads one record.
  WARDEN_DEVICE void load(std::uint32_t slot) const {
    if constexpr (on_chip) copies_[slot] = *address_of(slot);
  }
  /// Writes one record back.
  WARDEN_DEVICE void write_back(std::uint32_t slot) const {
    if constexpr (on_chip) *address_of(slot) = copies_[slot];
  }

  /// Sets the tiles and loads their records. Collective; a block barrier follows.
  WARDEN_DEVICE void load(two_tiles pair) {
    pair_ = pair;
    copies_.load(*this, slots());
  }
  /// Writes the records back. Collective, after all sections have run and after a barrier.
  WARDEN_DEVICE void write_back() const { copies_.write_back(*this, slots()); }

  /// Returns the slot of a tile's record; `side` is 0 for the first tile, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return side * ref_.locals + local;
  }
  /// Returns the record for sections that have it as their first one.
  WARDEN_DEVICE record* first(std::uint32_t slot) const {
    if constexpr (on_chip) {
      return &copies_[slot];
    } else {
      return address_of(slot);
    }
  }
  /// Returns the record for sections that have it as their second one.
  WARDEN_DEVICE record* second(std::uint32_t slot) const { return first(slot); }
  /// Returns the record's address in global memory, which identifies it wherever its copy is.
  WARDEN_DEVICE record* address_of(std::uint32_t slot) const {
    bool const is_second = slot >= ref_.locals;
    return ref_.record_of(is_second ? pair_.b : pair_.a, is_second ? slot - ref_.locals : slot);
  }
  /// Returns an object that converts to the record's id.
  WARDEN_DEVICE local_record_id<Ref> id_of(std::uint32_t slot) const {
    bool const is_second = slot >= ref_.locals;
    return {ref_, is_second ? pair_.b : pair_.a, is_second ? slot - ref_.locals : slot};
  }
  /// Returns true if a slot has a record: the last tiles have fewer than the first.
  WARDEN_DEVICE bool is_record(std::uint32_t slot) const {
    if (slot >= slots()) return false;
    bool const is_second = slot >= ref_.locals;
    std::uint32_t const local = is_second ? slot - ref_.locals : slot;
    return ref_.owners.id({is_second ? pair_.b : pair_.a, local}) < ref_.size;
  }

 private:
  WARDEN_DEVICE std::uint32_t slots() const {
    return pair_.a == pair_.b ? ref_.locals : 2 * ref_.locals;
  }

  Ref const& ref_;
  copies copies_;
  two_tiles pair_{0, 0};
};

}  // namespace detail
WARDEN_NAMESPACE_END
