// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies of records on chip, and how a block loads and stores them.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/copy_together.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Copies of a tile's records in shared memory, if `OnChip`; otherwise nothing is copied. `Places`
/// tells if a slot has a record, `is_record(slot)`, and its address in global memory,
/// `address_of(slot)`. `Lanes` adjacent threads copy a record together.
template <class Record, bool OnChip, unsigned Lanes>
class tile_copies {
  static_assert(!OnChip || alignof(Record) <= arena_alignment,
                "warden: records on chip are aligned to at most 128 bytes");

 public:
  /// Returns the piece for `records` records; empty if they are in memory.
  WARDEN_HOST_DEVICE static constexpr arena_piece<Record> carve(arena_carver& carver,
                                                                std::size_t records) {
    if constexpr (OnChip) {
      return carver.take<Record>(records);
    } else {
      return {carver.bytes(), 0};
    }
  }

  /// Constructs the object. `copies` is shared memory as carved, the same for the whole block.
  WARDEN_DEVICE explicit tile_copies(simt::shared_span<Record> copies) : copies_{copies} {}

  /// Returns a copy.
  WARDEN_DEVICE Record& operator[](std::uint32_t slot) const { return copies_[slot]; }

  /// Loads the records of the first `all` slots. Collective; a block barrier follows.
  template <class Places>
  WARDEN_DEVICE void load(Places const& places, std::uint32_t all) const {
    if constexpr (OnChip) {
      copy(
          places, all, [&](std::uint32_t s) { return places.address_of(s); },
          [&](std::uint32_t s) { return &copies_[s]; });
    }
  }
  /// Writes the records back. Collective, after all sections have run and after a barrier.
  template <class Places>
  WARDEN_DEVICE void write_back(Places const& places, std::uint32_t all) const {
    if constexpr (OnChip) {
      auto const from = [&](std::uint32_t s) { return &copies_[s]; };
      auto const to = [&](std::uint32_t s) { return places.address_of(s); };
      copy(places, all, from, to);  // mutation: tile-back
    }
  }

 private:
  /// Type of a record's words: as wide as its alignment allows, so that no word is assembled from
  /// bytes.
  using word = std::conditional_t<
      alignof(Record) % 8 == 0, std::uint64_t,
      std::conditional_t<alignof(Record) % 4 == 0, std::uint32_t, unsigned char>>;
  /// A record as words, because records may have no default constructor.
  struct [[gnu::may_alias]] alignas(Record) image {
    word words[sizeof(Record) / sizeof(word)];
  };
  /// Records that a thread loads at the same time: one wait for memory instead of one each.
  static constexpr unsigned at_once =
      sizeof(Record) <= 64 ? std::min<unsigned>(4, 128 / sizeof(Record)) : 1;

  /// Copies the records of the first `all` slots from `from(slot)` to `to(slot)`. Collective.
  template <class Places, class From, class To>
  WARDEN_DEVICE static void copy(Places const& places, std::uint32_t all, From from, To to) {
    if constexpr (Lanes > 1) {
      copy_by_groups(places, all, from, to);
    } else {
      copy_by_threads(places, all, from, to);
    }
  }
  template <class Places, class From, class To>
  WARDEN_DEVICE static void copy_by_groups(Places const& places, std::uint32_t all, From from,
                                           To to) {
    lane_group<Lanes> const lanes;
    for (std::uint32_t s = simt::thread_rank() / Lanes; s < all;
         s += simt::block_threads() / Lanes) {
      if (!places.is_record(s)) continue;
      simt::group_enter(lanes.mask(), places.address_of(s));
      copy_together(lanes, to(s), from(s));
      simt::group_leave(lanes.mask(), places.address_of(s));
    }
  }
  template <class Places, class From, class To>
  WARDEN_DEVICE static void copy_by_threads(Places const& places, std::uint32_t all, From from,
                                            To to) {
    WARDEN_NO_UNROLL
    for (std::uint32_t first = simt::thread_rank(); first < all;
         first += at_once * simt::block_threads()) {
      auto const for_each_record = [&](auto f) {
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const s = first + k * simt::block_threads();
          if (!places.is_record(s)) continue;
          simt::section_enter(places.address_of(s));
          f(s, k);
          simt::section_leave(places.address_of(s));
        }
      };
      if constexpr (at_once == 1) {
        // Copied directly: there may be too few registers for it.
        for_each_record([&](std::uint32_t s, unsigned) {
          *reinterpret_cast<image*>(to(s)) = *reinterpret_cast<image const*>(from(s));
        });
      } else {
        image images[at_once];
        for_each_record([&](std::uint32_t s, unsigned k) {
          images[k] = *reinterpret_cast<image const*>(from(s));
        });
        for_each_record(
            [&](std::uint32_t s, unsigned k) { *reinterpret_cast<image*>(to(s)) = images[k]; });
      }
    }
  }

  simt::shared_span<Record> copies_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
