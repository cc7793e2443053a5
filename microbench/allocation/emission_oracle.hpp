// SPDX-License-Identifier: Apache-2.0
// Checks that items emitted the right elements at the right places.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>

namespace allocation {

/// An element holds the number of its item in the low bits, and its own number among the elements
/// of that item in the high bits.
inline constexpr unsigned item_bits = 26;

/// `total` elements that n items emitted. An exclusive or with `flip` decodes them.
struct emitted {
  std::uint32_t const* counts;  ///< [item]
  std::uint32_t n;
  std::uint32_t const* elements;
  std::uint64_t total;  ///< below 2^32
  /// Number of bits of an element that hold the number of its item. The other bits are the lowest
  /// bits of the element's own number.
  unsigned bits = item_bits;
  std::uint32_t flip = 0;
};

/// Checks that the elements of each item are adjacent, in order and complete, and that there are no
/// other elements. If required, also checks that items are in order.
class emission_oracle {
 public:
  explicit emission_oracle(std::uint32_t most_items)
      : groups_{most_items}, begin_{most_items}, end_{most_items}, wrong_{1} {}
  /// Returns the number of wrong elements and items. Throws std::logic_error if there are 2^32 or
  /// more elements.
  std::uint64_t wrong(emitted const& what, bool in_order);

 private:
  warden::buffer<std::uint32_t> groups_, begin_, end_;
  warden::buffer<std::uint64_t> wrong_;
};

}  // namespace allocation
