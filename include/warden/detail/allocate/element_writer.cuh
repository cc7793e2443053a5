// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes the elements of a warp's items: neighbours by neighbouring lanes, 16 bytes at once.
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
  /// Elements that are stored at once.
  static constexpr unsigned group = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  /// Each lane looks at the bits of 32 elements.
  static constexpr unsigned of_look = 32 * simt::warp_size;
  /// Of a turn of the warp, and of as many turns as do not wait for one another.
  static constexpr unsigned of_turn = group * simt::warp_size;
  static constexpr unsigned turns = of_look / of_turn < 4 ? of_look / of_turn : 4;
  static constexpr unsigned at_once = turns * of_turn;

 public:
  /// Collective: writes `elements` elements, a window at most, to `to` and on. The first one's item
  /// has the rank `rank`. `make(listed, x)` says what element x is, of whose item that is listed.
  /// `to` is aligned as the elements are.
  template <class Make>
  WARDEN_DEVICE static void write(typename items::storage const& shared, unsigned rank,
                                  std::uint32_t elements, Make const& make, T* to) {
    unsigned const lane = simt::lane_id();
    // Groups are aligned in memory, if elements can be. Lanes write what is before the first one.
    auto const address = reinterpret_cast<std::uintptr_t>(to);
    bool const has_groups = group == 1 || address % sizeof(T) == 0;
    std::uint32_t head =
        has_groups ? (0u - static_cast<std::uint32_t>(address / sizeof(T))) % group : 0;
    if (head > elements) head = elements;
    // The item that has begun last; the first element's has a bit, too.
    std::uint32_t const* begun = items::before(shared, rank);
    if (group != 1 && head != 0) {
      std::uint32_t const begins = items::begins_at(shared, 0);
      if (lane < head) to[lane] = make(begun + up_to(begins, lane + 1), lane);
      begun += up_to(begins, head);
    }
    to += head;
    std::uint32_t x = head + lane * group;
    for (std::uint32_t left = elements - head, at = head; left != 0; at += of_look) {
      std::uint32_t const mine = items::begins_at(shared, at + 32 * lane);
      auto const count = static_cast<std::uint32_t>(simt::count_bits(mine));
      std::uint32_t const before = warp_sum_before(count);
      look const all{mine, before, begun};
      begun += simt::shuffle(simt::full_warp, before + count, simt::warp_size - 1);
      WARDEN_NO_UNROLL
      for (unsigned turn = 0; turn < of_look / of_turn; turn += turns) {
        if (has_groups && left >= at_once) {
          WARDEN_UNROLL
          for (unsigned t = 0; t < turns; ++t)
            write_group(all.find(turn + t), x + t * of_turn, make, to + t * of_turn + lane * group);
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
  /// How many of the lowest bits are set, less than 32.
  WARDEN_DEVICE static unsigned up_to(std::uint32_t bits, unsigned lowest) {
    return static_cast<unsigned>(simt::count_bits(bits & ((1u << lowest) - 1)));
  }
  /// A lane's first element of a turn: the bits from there on, and the item that has begun before.
  struct found {
    std::uint32_t bits;
    std::uint32_t const* begun;
  };
  /// What lanes see at a look: each its own bits, and how many have begun before them.
  struct look {
    std::uint32_t mine, before;
    std::uint32_t const* begun;

    WARDEN_DEVICE found find(unsigned turn) const {
      unsigned const offset = simt::lane_id() * group;
      unsigned const from = turn * (of_turn / 32) + offset / 32;
      std::uint32_t const word = simt::shuffle(simt::full_warp, mine, from);
      std::uint32_t const earlier = simt::shuffle(simt::full_warp, before, from);
      return {word >> offset % 32, begun + earlier + up_to(word, offset % 32)};
    }
  };
  template <class Make>
  WARDEN_DEVICE static void write_group(found its, std::uint32_t x, Make const& make, T* to) {
    if constexpr (group == 1) {
      *to = make(its.begun + (its.bits & 1), x);
    } else {
      // All of them at once, whether another item begins or not: nobody waits in turn.
      std::uint32_t made[4];
      WARDEN_UNROLL
      for (unsigned v = 0; v < group; ++v) {
        its.begun += its.bits >> v & 1;
        T const one = make(its.begun, x + v);
        std::memcpy(reinterpret_cast<unsigned char*>(made) + v * sizeof(T), &one, sizeof(T));
      }
      simt::store_four_words(to, made);
    }
  }
  /// Turns with fewer elements, or without groups. Returns how many elements are left.
  template <class Make>
  WARDEN_DEVICE static std::uint32_t write_rest(look const& all, unsigned turn, bool has_groups,
                                                std::uint32_t left, std::uint32_t x,
                                                Make const& make, T* to) {
    unsigned const offset = simt::lane_id() * group;
    WARDEN_NO_UNROLL
    for (unsigned t = 0; t < turns && left != 0; ++t) {
      found its = all.find(turn + t);
      if (has_groups && offset + group <= left) {
        write_group(its, x, make, to + offset);
      } else {
        WARDEN_NO_UNROLL
        for (unsigned v = 0; v < group; ++v) {
          its.begun += its.bits >> v & 1;
          if (offset + v < left) to[offset + v] = make(its.begun, x + v);
        }
      }
      left -= left < of_turn ? left : of_turn;
      to += of_turn;
      x += of_turn;
    }
    return left;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
