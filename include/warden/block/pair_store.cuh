// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a block keeps the records of two parts while it runs the sections between them: on chip,
/// or in global memory where two parts do not fit the chip.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/tournament.cuh>
#include <warden/placement.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// The records of two parts, or of one. A record's *slot* is its number in its part, behind all
/// those of the first part if it is the second one. `Ref::policy::records` says where they are.
template <class Ref>
class pair_store {
 public:
  /// The type of one protected item.
  using record = typename Ref::record;
  /// Whether the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;

  static_assert(!on_chip || alignof(record) <= arena_alignment,
                "warden: records on chip are aligned to 128 bytes at most");

  /// The piece for two parts of `locals` records; nothing if they are in memory.
  WARDEN_HOST_DEVICE static constexpr arena_piece<record> carve(arena_carver& carver,
                                                                std::size_t locals) {
    if constexpr (on_chip) {
      return carver.take<record>(2 * locals);
    } else {
      return {carver.bytes(), 0};
    }
  }

  /// `copies` is shared memory as carved, the same for the whole block.
  WARDEN_DEVICE pair_store(Ref const& ref, simt::shared_span<record> copies)
      : ref_{ref}, copies_{copies} {}

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
    if constexpr (on_chip) {
      std::uint32_t const all = slots();
      // Several are under way before the first is stored: one wait for memory instead of one each.
      WARDEN_NO_UNROLL
      for (std::uint32_t first = simt::thread_rank(); first < all;
           first += at_once * simt::block_threads()) {
        image images[at_once];
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const s = first + k * simt::block_threads();
          if (!is_record(s)) continue;
          simt::section_enter(address_of(s));
          images[k] = *reinterpret_cast<image const*>(address_of(s));
          simt::section_leave(address_of(s));
        }
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const s = first + k * simt::block_threads();
          if (is_record(s)) *reinterpret_cast<image*>(&copies_[s]) = images[k];
        }
      }
    }
  }
  /// Writes them back. Collective, when all sections have run and a barrier has passed.
  WARDEN_DEVICE void write_back() const {
    if constexpr (on_chip) {
      std::uint32_t const all = slots();
      WARDEN_NO_UNROLL
      for (std::uint32_t s = simt::thread_rank(); s < all; s += simt::block_threads()) {
        if (!is_record(s)) continue;
        record* const place = address_of(s);
        simt::section_enter(place);
        *place = copies_[s];  // sabotage: part-back
        simt::section_leave(place);
      }
    }
  }

  /// The slot of a part's record; `side` is 0 for the first part, 1 for the second.
  WARDEN_DEVICE std::uint32_t slot_of(unsigned side, std::uint32_t local) const {
    return side * ref_.locals + local;
  }
  /// The record to run sections on.
  WARDEN_DEVICE record* at(std::uint32_t slot) const {
    if constexpr (on_chip) {
      return &copies_[slot];
    } else {
      return address_of(slot);
    }
  }
  /// Where the record is in global memory: its identity, wherever its copy is.
  WARDEN_DEVICE record* address_of(std::uint32_t slot) const {
    bool const is_second = slot >= ref_.locals;
    return ref_.record_of(is_second ? pair_.b : pair_.a, is_second ? slot - ref_.locals : slot);
  }

 private:
  /// A record as bytes: there may be none without a value.
  struct alignas(record) image {
    unsigned char bytes[sizeof(record)];
  };
  /// Records of a thread under way.
  static constexpr unsigned at_once = sizeof(record) <= 32 ? 2 : 1;

  WARDEN_DEVICE std::uint32_t slots() const {
    return pair_.a == pair_.b ? ref_.locals : 2 * ref_.locals;
  }
  /// The last parts have fewer records than the first.
  WARDEN_DEVICE bool is_record(std::uint32_t slot) const {
    if (slot >= slots()) return false;
    bool const is_second = slot >= ref_.locals;
    std::uint32_t const local = is_second ? slot - ref_.locals : slot;
    return ref_.owners.id({is_second ? pair_.b : pair_.a, local}) < ref_.size;
  }

  Ref const& ref_;
  simt::shared_span<record> copies_;
  part_pair pair_{0, 0};
};

WARDEN_NAMESPACE_END
