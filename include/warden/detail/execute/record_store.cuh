// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that holds a server's records while it works: global memory, or on chip.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/copy_together.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/record_id.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/record_copy.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The records of server `number`, in the memory that `Ref::policy::records` selects.
template <class Ref>
class record_store {
 public:
  /// The type of one protected item.
  using record = typename Ref::record;
  /// True if the records are in shared memory.
  static constexpr bool on_chip = Ref::policy::records == placement::on_chip;

  static_assert(!on_chip || alignof(record) <= arena_alignment,
                "warden: records on chip are aligned to at most 128 bytes");

  /// Returns the piece for `locals` records; empty if they are in memory.
  WARDEN_HOST_DEVICE static constexpr arena_piece<record> carve(arena_carver& carver,
                                                                std::size_t locals) {
    if constexpr (on_chip) {
      return carver.take<record>(locals);
    } else {
      return {carver.bytes(), 0};
    }
  }

  /// `copies` is shared memory for `ref.locals` records, the same for the whole block.
  WARDEN_DEVICE record_store(Ref const& ref, std::uint32_t number, simt::shared_span<record> copies)
      : ref_{ref}, number_{number}, copies_{copies} {}

  /// Loads the records on chip. Collective; a block barrier follows.
  WARDEN_DEVICE void load() const {
    if constexpr (on_chip && at_once > 1) {
      // Several loads are in flight: a block that runs few sections waits for them most of its
      // time.
      unsigned const step = simt::block_threads();
      for (std::uint32_t first = simt::thread_rank(); first < ref_.locals;
           first += at_once * step) {
        record_copy<record> loaded[at_once];
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          if (!has(first + k * step)) continue;
          simt::section_enter(address_of(first + k * step));
          loaded[k].value = *address_of(first + k * step);
        }
        WARDEN_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
          if (!has(first + k * step)) continue;
          copies_[first + k * step] = loaded[k].value;
          simt::section_leave(address_of(first + k * step));
        }
      }
    } else {
      for_each([&](std::uint32_t local, record* place) { copy(&copies_[local], place, place); });
    }
  }
  /// Writes the records back. Collective, after all sections have run.
  WARDEN_DEVICE void write_back() const {
    if constexpr (on_chip) simt::sync_block();  // mutation: write-back-barrier
    for_each([&](std::uint32_t local, record* place) {
      copy(place, &copies_[local], place);  // mutation: write-back
    });
  }

  /// Returns the record to run sections on.
  WARDEN_DEVICE record* at(std::uint32_t local) const {
    if constexpr (on_chip) {
      return &copies_[local];
    } else {
      return address_of(local);
    }
  }
  /// Returns the record's address in global memory, which is also its identity if it is on chip.
  WARDEN_DEVICE record* address_of(std::uint32_t local) const {
    return ref_.record_of(number_, local);
  }
  /// Returns an object that converts to the record's id.
  WARDEN_DEVICE local_record_id<Ref> id_of(std::uint32_t local) const {
    return {ref_, number_, local};
  }

 private:
  /// The lanes that run a section together copy a record together.
  using group = lane_group<Ref::group_size>;
  /// Records that a thread loads before it stores the first on chip.
  static constexpr unsigned at_once = Ref::group_size > 1
                                          ? 1
                                          : std::clamp<unsigned>(64 / sizeof(record), 1, 8);

  /// Copies one record, whose identity is `place`.
  WARDEN_DEVICE static void copy(record* to, record const* from, record const* place) {
    if constexpr (Ref::group_size == 1) {
      simt::section_enter(place);
      *to = *from;
      simt::section_leave(place);
    } else {
      group const lanes;
      simt::group_enter(lanes.mask(), place);
      copy_together(lanes, to, from);
      simt::group_leave(lanes.mask(), place);
    }
  }
  /// True if the server has the record. The last servers own fewer records than the first.
  WARDEN_DEVICE bool has(std::uint32_t local) const {
    return local < ref_.locals && ref_.owners.id({number_, local}) < ref_.size;
  }
  template <class F>
  WARDEN_DEVICE void for_each(F f) const {
    if constexpr (on_chip) {
      for (std::uint32_t l = simt::thread_rank() / Ref::group_size; l < ref_.locals;
           l += simt::block_threads() / Ref::group_size) {
        if (has(l)) f(l, address_of(l));
      }
    }
  }

  Ref const& ref_;
  std::uint32_t number_;
  simt::shared_span<record> copies_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
