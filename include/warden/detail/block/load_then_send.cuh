// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loop of a kernel that sends the elements of arrays. It loads several elements before it sends
/// the first, which costs one wait for memory instead of one for each element.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the number of elements that a thread loads before it sends the first: as many as take
/// few registers.
WARDEN_HOST_DEVICE constexpr unsigned loaded_at_once(std::size_t bytes) {
  return bytes <= 12 ? 4 : bytes <= 20 ? 2 : 1;
}

/// Loads and sends the elements first + rank, first + step + rank, ... below `n`, `AtOnce` at a
/// time. With `Rolled` there is one copy of `send` for all of them. `load` is called once for each
/// element; a thread that has none left passes `valid` false, and nothing that was loaded, to
/// `send`.
template <unsigned AtOnce, bool Rolled, class Load, class Send>
WARDEN_DEVICE void load_then_send(std::uint64_t first, std::uint64_t step, std::uint64_t n,
                                  unsigned rank, Load load, Send send) {
  using value = std::remove_cvref_t<decltype(load(n))>;
  static_assert(std::is_trivially_copyable_v<value>,
                "warden: elements that are loaded must be trivially copyable");
  // A section need not have a default constructor.
  union place {
    WARDEN_DEVICE place() {}
    value loaded;
  };
  for (; first < n; first += AtOnce * step) {
    std::uint64_t const left = n - first;
    place places[AtOnce];
    // Without a condition at each load, none of them waits for another one.
    if (AtOnce * step <= left) {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k)
        new (&places[k].loaded) value(load(first + k * step + rank));
    } else {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        std::uint64_t const offset = k * step + rank;
        if (offset < left) new (&places[k].loaded) value(load(first + offset));
      }
    }
    if constexpr (Rolled) {
      // The elements move up, so that they stay in registers.
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        std::uint64_t const offset = k * step + rank;
        send(first + offset, places[0].loaded, offset < left);
        WARDEN_UNROLL
        for (unsigned j = 1; j < AtOnce; ++j) new (&places[j - 1].loaded) value(places[j].loaded);
      }
    } else {
      WARDEN_UNROLL
      for (unsigned k = 0; k < AtOnce; ++k) {
        std::uint64_t const offset = k * step + rank;
        send(first + offset, places[k].loaded, offset < left);
      }
    }
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
