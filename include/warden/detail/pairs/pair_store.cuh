// SPDX-License-Identifier: Apache-2.0
/// @file
/// Store of the records of two parts, while a block runs the sections between them: on chip, or in
/// global memory if two parts do not fit the chip.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/detail/pairs/part_copies.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Maximum of records in the two parts that a block holds.
struct part_sizes {
  std::uint32_t first;   ///< records of the first part
  std::uint32_t second;  ///< records of the second part

  /// Returns the average number of records of a part.
  WARDEN_HOST_DEVICE constexpr std::uint32_t mean() const {
    return least() + ((first < second ? second : first) - least()) / 2;
  }
  /// Returns the number of records of the smaller part.
  WARDEN_HOST_DEVICE constexpr std::uint32_t least() const {
    return first < second ? first : second;
  }
};

/// Records of two parts of one array, or of one part. A record's *slot* is its number in its part;
/// slots of the second part follow all those of the first. `Ref::policy::records` is their
/// placement.
template <class Ref>
class pair_store {
 public:
  /// Type of one protected item.
  using record = typename Ref::record;
  /// True if the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;
  /// Copies of the records.
  using copies = part_copies<record, on_chip, Ref::group_size>;
  /// Pieces of shared memory.
  using pieces = arena_piece<record>;

  /// Returns the piece for two parts of these sizes; empty if they are in memory.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, part_sizes sizes) {
    return copies::carve(carver, std::size_t{2} * sizes.first);
  }

  /// Constructs a store. `storage` is the shared memory in which `at` was carved, the same for the
  /// whole block.
  WARDEN_DEVICE pair_store(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref}, copies_{at.in(storage)} {}

  /// Sets the parts to which slots refer. Their records are loaded one by one before a block
  /// barrier, and written back after one. Several threads may do that to one record at once: they
  /// write the same value.
  WARDEN_DEVICE void hold(part_pair pair) { pair_ = pair; }
  /// Loads one record.
  WARDEN_DEVICE void load(std::uint32_t slot) const {
    if constexpr (on_chip) copies_[slot] = *address_of(slot);
  }
  /// Writes one record back.
  WARDEN_DEVICE void write_back(std::uint32_t slot) const {
    if constexpr (on_chip) *address_of(slot) = copies_[slot];
  }

  /// Sets the parts and loads their records. Collective; a block barrier follows.
  WARDEN_DEVICE void load(part_pair pair) {
    pair_ = pair;
    copies_.load(*this, slots());
  }
  /// Writes the records back. Collective, after all sections have run and after a barrier.
  WARDEN_DEVICE void write_back() const { copies_.write_back(*this, slots()); }

  /// Returns the slot of a part's record; `side` is 0 for the first part, 1 for the second.
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
  /// Returns true if a slot has a record: the last parts have fewer than the first.
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
  part_pair pair_{0, 0};
};

}  // namespace detail
WARDEN_NAMESPACE_END
