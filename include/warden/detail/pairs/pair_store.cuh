// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a block keeps the records of two parts while it runs the sections between them: on chip,
/// or in global memory where two parts do not fit the chip.
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

/// Records of the two parts that a block holds, at most.
struct part_sizes {
  std::uint32_t first;   ///< of the first part
  std::uint32_t second;  ///< of the second

  /// Records of a part, on average.
  WARDEN_HOST_DEVICE constexpr std::uint32_t mean() const {
    return least() + ((first < second ? second : first) - least()) / 2;
  }
  /// Records of the smaller part.
  WARDEN_HOST_DEVICE constexpr std::uint32_t least() const {
    return first < second ? first : second;
  }
};

/// The records of two parts of one array, or of one part. A record's *slot* is its number in its
/// part, behind all those of the first part if it is the second one. `Ref::policy::records` says
/// where they are.
template <class Ref>
class pair_store {
 public:
  /// The type of one protected item.
  using record = typename Ref::record;
  /// Whether the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;
  /// Their copies.
  using copies = part_copies<record, on_chip, Ref::group_size>;
  /// The pieces of shared memory that it needs.
  using pieces = arena_piece<record>;

  /// The piece for two parts of these sizes; nothing if they are in memory.
  WARDEN_HOST_DEVICE static constexpr pieces carve(arena_carver& carver, part_sizes sizes) {
    return copies::carve(carver, std::size_t{2} * sizes.first);
  }

  /// `storage` is the shared memory in which `at` was carved, the same for the whole block.
  WARDEN_DEVICE pair_store(Ref const& ref, pieces const& at, std::byte* storage)
      : ref_{ref}, copies_{at.in(storage)} {}

  /// From now on slots are of these parts. Their records are loaded one by one, before a block
  /// barrier, and written back so behind one; several threads may do that to one record at once:
  /// they write the same.
  WARDEN_DEVICE void hold(part_pair pair) { pair_ = pair; }
  /// Brings one record on chip.
  WARDEN_DEVICE void load(std::uint32_t slot) const {
    if constexpr (on_chip) copies_[slot] = *address_of(slot);
  }
  /// Writes it back.
  WARDEN_DEVICE void write_back(std::uint32_t slot) const {
    if constexpr (on_chip) *address_of(slot) = copies_[slot];
  }

  /// Brings the records of these parts on chip. Collective; a block barrier follows.
  WARDEN_DEVICE void load(part_pair pair) {
    pair_ = pair;
    copies_.load(*this, slots());
  }
  /// Writes them back. Collective, when all sections have run and a barrier has passed.
  WARDEN_DEVICE void write_back() const { copies_.write_back(*this, slots()); }

  /// The slot of a part's record; `side` is 0 for the first part, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return side * ref_.locals + local;
  }
  /// The record to run sections on that have it as their first one.
  WARDEN_DEVICE record* first(std::uint32_t slot) const {
    if constexpr (on_chip) {
      return &copies_[slot];
    } else {
      return address_of(slot);
    }
  }
  /// The same of those that have it as their second one.
  WARDEN_DEVICE record* second(std::uint32_t slot) const { return first(slot); }
  /// Where the record is in global memory: its identity, wherever its copy is.
  WARDEN_DEVICE record* address_of(std::uint32_t slot) const {
    bool const is_second = slot >= ref_.locals;
    return ref_.record_of(is_second ? pair_.b : pair_.a, is_second ? slot - ref_.locals : slot);
  }
  /// Whether a slot has a record: the last parts have fewer than the first.
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
