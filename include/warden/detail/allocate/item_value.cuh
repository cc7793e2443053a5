// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values that all elements of an item need, computed once for each item.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// An `element` of `allocate_async` that receives its item's value: it is called as `element(i, k,
/// value)`, and `item(i)` returns the value.
template <class Element>
concept has_item_value = requires(Element const& element, std::uint64_t i) {
  element.item(i);
};

/// Values of a warp's `size` items, in shared memory. Adjacent lanes compute adjacent values, and
/// no element waits for memory. This version is for elements without values.
template <class Element, unsigned Size>
class item_values {
 public:
  /// Empty.
  struct storage {};
  /// Empty.
  struct asked {};
  /// Does nothing.
  WARDEN_DEVICE static asked ask(std::uint64_t, std::uint64_t, Element const&) { return {}; }
  /// Does nothing.
  WARDEN_DEVICE static void keep(storage&, asked) {}
  /// Returns element k of item `first + number`.
  WARDEN_DEVICE static auto element(storage const&, Element const& element, std::uint64_t first,
                                    unsigned number, std::uint32_t k) {
    return element(first + number, k);
  }
};
/// Version for elements that receive values.
template <has_item_value Element, unsigned Size>
class item_values<Element, Size> {
  using value = std::remove_cvref_t<decltype(std::declval<Element const&>().item(0))>;
  static_assert(std::is_trivially_copyable_v<value> &&
                    std::is_trivially_default_constructible_v<value>,
                "warden: element.item(i) is trivially copyable and default constructible: it is "
                "kept in shared memory");

 public:
  /// Values of the items; not constructed.
  struct storage {
    value values[Size];  ///< [item]
  };
  /// Values of one lane's items.
  struct asked {
    value values[Size / simt::warp_size];  ///< values of the lane
  };
  /// Computes the values of the items from `first` on that are below `n`. Collective over the warp.
  WARDEN_DEVICE static asked ask(std::uint64_t first, std::uint64_t n, Element const& element) {
    asked result{};
    WARDEN_UNROLL
    for (unsigned j = 0; j < Size / simt::warp_size; ++j) {
      std::uint64_t const item = first + j * simt::warp_size + simt::lane_id();
      if (first + Size <= n || item < n) result.values[j] = element.item(item);
    }
    return result;
  }
  /// Stores the values. Collective over the warp; all lanes see them after a warp barrier.
  WARDEN_DEVICE static void keep(storage& shared, asked const& lane_values) {
    WARDEN_UNROLL
    for (unsigned j = 0; j < Size / simt::warp_size; ++j)
      shared.values[j * simt::warp_size + simt::lane_id()] = lane_values.values[j];
  }
  /// Returns element k of item `first + number`.
  WARDEN_DEVICE static auto element(storage const& shared, Element const& element,
                                    std::uint64_t first, unsigned number, std::uint32_t k) {
    return element(first + number, k, shared.values[number]);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
