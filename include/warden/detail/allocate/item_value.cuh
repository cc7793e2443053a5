// SPDX-License-Identifier: Apache-2.0
/// @file
/// What all elements of an item need, asked once.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// An `element` of `allocate_async` that is told its item's value: it is `element(i, k, value)`,
/// and `item(i)` says the value.
template <class Element>
concept has_item_value = requires(Element const& element, std::uint64_t i) {
  element.item(i);
};

/// The values of a warp's `size` items, in shared memory: neighbouring lanes ask for neighbours,
/// and no element waits for memory.
template <class Element, unsigned Size>
class item_values {
 public:
  /// Nothing is asked.
  struct storage {};
  /// Nor known.
  struct asked {};
  /// Collective over the warp, with `keep`.
  WARDEN_DEVICE static asked ask(std::uint64_t, std::uint64_t, Element const&) { return {}; }
  /// Nothing.
  WARDEN_DEVICE static void keep(storage&, asked) {}
  /// Element k of item `first + number`.
  WARDEN_DEVICE static auto element(storage const&, Element const& element, std::uint64_t first,
                                    unsigned number, std::uint32_t k) {
    return element(first + number, k);
  }
};
/// Those of elements that are told them.
template <has_item_value Element, unsigned Size>
class item_values<Element, Size> {
  using value = std::remove_cvref_t<decltype(std::declval<Element const&>().item(0))>;
  static_assert(std::is_trivially_copyable_v<value> &&
                    std::is_trivially_default_constructible_v<value>,
                "warden: element.item(i) is trivially copyable and default constructible: it is "
                "kept in shared memory");

 public:
  /// Not constructed.
  struct storage {
    value of[Size];  ///< [item]
  };
  /// Of some of the items, by each lane.
  struct asked {
    value of[Size / simt::warp_size];  ///< those of one lane
  };
  /// Collective over the warp: asks for the items from `first` on that are below `n`.
  WARDEN_DEVICE static asked ask(std::uint64_t first, std::uint64_t n, Element const& element) {
    asked result{};
    WARDEN_UNROLL
    for (unsigned j = 0; j < Size / simt::warp_size; ++j) {
      std::uint64_t const item = first + j * simt::warp_size + simt::lane_id();
      if (first + Size <= n || item < n) result.of[j] = element.item(item);
    }
    return result;
  }
  /// Collective over the warp: puts them where all lanes find them, behind a warp barrier.
  WARDEN_DEVICE static void keep(storage& shared, asked const& values) {
    WARDEN_UNROLL
    for (unsigned j = 0; j < Size / simt::warp_size; ++j)
      shared.of[j * simt::warp_size + simt::lane_id()] = values.of[j];
  }
  /// Element k of item `first + number`.
  WARDEN_DEVICE static auto element(storage const& shared, Element const& element,
                                    std::uint64_t first, unsigned number, std::uint32_t k) {
    return element(first + number, k, shared.of[number]);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
