// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies of records on chip, and how a block brings many of them there and back.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// In shared memory if `OnChip`; otherwise nothing is copied. `Places` says of a slot whether it
/// has a record, `is_record(slot)`, and where that is in global memory, `address_of(slot)`.
template <class Record, bool OnChip>
class part_copies {
  static_assert(!OnChip || alignof(Record) <= arena_alignment,
                "warden: records on chip are aligned to 128 bytes at most");

 public:
  /// The piece for so many records; nothing if they are in memory.
  WARDEN_HOST_DEVICE static constexpr arena_piece<Record> carve(arena_carver& carver,
                                                                std::size_t records) {
    if constexpr (OnChip) {
      return carver.take<Record>(records);
    } else {
      return {carver.bytes(), 0};
    }
  }

  /// `copies` is shared memory as carved, the same for the whole block.
  WARDEN_DEVICE explicit part_copies(simt::shared_span<Record> copies) : copies_{copies} {}

  /// A copy.
  WARDEN_DEVICE Record& operator[](std::uint32_t slot) const { return copies_[slot]; }

  /// Brings the records of the first `all` slots on chip. Collective; a block barrier follows.
  template <class Places>
  WARDEN_DEVICE void load(Places const& places, std::uint32_t all) const {
    if constexpr (OnChip) {
      // Several are under way before the first is stored: one wait for memory instead of one each.
      WARDEN_NO_UNROLL
      for (std::uint32_t first = simt::thread_rank(); first < all;
           first += at_once * simt::block_threads()) {
        image images[at_once];
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const s = first + k * simt::block_threads();
          if (!places.is_record(s)) continue;
          simt::section_enter(places.address_of(s));
          images[k] = *reinterpret_cast<image const*>(places.address_of(s));
          simt::section_leave(places.address_of(s));
        }
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const s = first + k * simt::block_threads();
          if (places.is_record(s)) *reinterpret_cast<image*>(&copies_[s]) = images[k];
        }
      }
    }
  }
  /// Writes them back. Collective, when all sections have run and a barrier has passed.
  template <class Places>
  WARDEN_DEVICE void write_back(Places const& places, std::uint32_t all) const {
    if constexpr (OnChip) {
      WARDEN_NO_UNROLL
      for (std::uint32_t s = simt::thread_rank(); s < all; s += simt::block_threads()) {
        if (!places.is_record(s)) continue;
        Record* const place = places.address_of(s);
        simt::section_enter(place);
        *place = copies_[s];  // sabotage: part-back
        simt::section_leave(place);
      }
    }
  }

 private:
  /// A record as bytes: there may be none without a value.
  struct alignas(Record) image {
    unsigned char bytes[sizeof(Record)];
  };
  /// Records of a thread under way.
  static constexpr unsigned at_once = sizeof(Record) <= 32 ? 2 : 1;

  simt::shared_span<Record> copies_;
};

WARDEN_NAMESPACE_END
