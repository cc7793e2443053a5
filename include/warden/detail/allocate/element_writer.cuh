// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the elements of a warp's items: adjacent lanes write adjacent elements, 16 bytes at once.
#pragma once

#include <warden/detail/allocate/warp_items.cuh>
#include <warden/detail/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Writes elements of type `T` that a warp's listed items emit.
template <class T, unsigned Items>
class element_writer {
  using items = warp_items<Items>;
  /// Elements that one lane stores at once.
  static constexpr unsigned group = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  /// Elements whose bits a warp loads at once, 32 for each lane.
  static constexpr unsigned look_elements = 32 * simt::warp_size;
  /// `turn_elements`: elements that a warp stores at once. `turns`: such stores that are in
  /// progress at the same time.
  static constexpr unsigned turn_elements = group * simt::warp_size;
  static constexpr unsigned turns =
      look_elements / turn_elements < 4 ? look_elements / turn_elements : 4;
  static constexpr unsigned at_once = turns * turn_elements;

 public:
  /// Writes `elements` elements, at most a window, to `to` and the following places. Collective
  /// over the warp. `rank` is the rank of the first element's item. `make(listed, x)` returns
  /// element x, an element of the item listed at `listed`. `to` is aligned as the elements are.
  template <class Make>
  WARDEN_DEVICE static void write(typename items::storage const& shared, unsigned rank,
                                  std::uint32_t elements, Make const& make, T* to) {
    unsigned const lane = simt::lane_id();
    // Groups are aligned in memory, if elements can be. Lanes write the elements before the first
    // group.
    auto const address = reinterpret_cast<std::uintptr_t>(to);
    bool const has_groups = group == 1 || address % sizeof(T) == 0;
    std::uint32_t head =
        has_groups ? (0u - static_cast<std::uint32_t>(address / sizeof(T))) % group : 0;
    if (head > elements) head = elements;
    // The last item that has begun; the first element's bit counts, too.
    std::uint32_t const* begun = items::before(shared, rank);
    if (group != 1 && head != 0) {
      std::uint32_t const begins = items::begins_at(shared, 0);
      if (lane < head) to[lane] = make(begun + up_to(begins, lane + 1), lane);
      begun += up_to(begins, head);
    }
    to += head;
    std::uint32_t x = head + lane * group;
    for (std::uint32_t left = elements - head, at = head; left != 0; at += look_elements) {
      std::uint32_t const mine = items::begins_at(shared, at + 32 * lane);
      auto const count = static_cast<std::uint32_t>(simt::count_bits(mine));
      std::uint32_t const before = warp_sum_before(count);
      look const all{mine, before, begun};
      begun += simt::shuffle(simt::full_warp, before + count, simt::warp_size - 1);
      WARDEN_NO_UNROLL
      for (unsigned turn = 0; turn < look_elements / turn_elements; turn += turns) {
        if (has_groups && left >= at_once) {
          WARDEN_UNROLL
          for (unsigned t = 0; t < turns; ++t)
            write_group(all.find(turn + t), x + t * turn_elements, make,
                        to + t * turn_elements + lane * group);
          left -= at_once;
        } else {
          left = write_rest(all, turn, has_groups, left, x, make, to);
        }
        if (left == 0) return;
        to += at_once;
        x += at_once;
      }
    }
  }

 private:
  /// Returns the number of set bits among the `lowest` lowest ones. Precondition: `lowest` < 32.
  WARDEN_DEVICE static unsigned up_to(std::uint32_t bits, unsigned lowest) {
    return static_cast<unsigned>(simt::count_bits(bits & ((1u << lowest) - 1)));
  }
  /// A lane's first element of a turn: the bits from there on, and the last item that has begun
  /// before.
  struct found {
    std::uint32_t bits;
    std::uint32_t const* begun;
  };
  /// Bits that the lanes have loaded: each lane its own, and the number of items that begin before
  /// them.
  struct look {
    std::uint32_t mine, before;
    std::uint32_t const* begun;

    WARDEN_DEVICE found find(unsigned turn) const {
      unsigned const offset = simt::lane_id() * group;
      unsigned const from = turn * (turn_elements / 32) + offset / 32;
      std::uint32_t const word = simt::shuffle(simt::full_warp, mine, from);
      std::uint32_t const earlier = simt::shuffle(simt::full_warp, before, from);
      return {word >> offset % 32, begun + earlier + up_to(word, offset % 32)};
    }
  };
  template <class Make>
  WARDEN_DEVICE static void write_group(found position, std::uint32_t x, Make const& make, T* to) {
    if constexpr (group == 1) {
      *to = make(position.begun + (position.bits & 1), x);
    } else {
      // All elements at once, whether another item begins or not, so that no lane waits for
      // another.
      std::uint32_t made[4];
      WARDEN_UNROLL
      for (unsigned v = 0; v < group; ++v) {
        position.begun += position.bits >> v & 1;
        T const one = make(position.begun, x + v);
        std::memcpy(reinterpret_cast<unsigned char*>(made) + v * sizeof(T), &one, sizeof(T));
      }
      simt::store_four_words(to, made);
    }
  }
  /// Writes turns with fewer elements, or without groups. Returns how many elements are left.
  template <class Make>
  WARDEN_DEVICE static std::uint32_t write_rest(look const& all, unsigned turn, bool has_groups,
                                                std::uint32_t left, std::uint32_t x,
                                                Make const& make, T* to) {
    unsigned const offset = simt::lane_id() * group;
    WARDEN_NO_UNROLL
    for (unsigned t = 0; t < turns && left != 0; ++t) {
      found position = all.find(turn + t);
      if (has_groups && offset + group <= left) {
        write_group(position, x, make, to + offset);
      } else {
        WARDEN_NO_UNROLL
        for (unsigned v = 0; v < group; ++v) {
          position.begun += position.bits >> v & 1;
          if (offset + v < left) to[offset + v] = make(position.begun, x + v);
        }
      }
      left -= left < turn_elements ? left : turn_elements;
      to += turn_elements;
      x += turn_elements;
    }
    return left;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
