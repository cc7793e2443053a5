// SPDX-License-Identifier: Apache-2.0
// Checks that items emitted the right elements at the right places.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>

namespace allocation {

/// An element is its item's number and, in the bits above, its own among the item's.
inline constexpr unsigned item_bits = 26;

/// Elements that n items emitted, `total` of them, which `flip` decodes.
struct emitted {
  std::uint32_t const* counts;  ///< [item]
  std::uint32_t n;
  std::uint32_t const* elements;
  std::uint64_t total;  ///< below 2^32
  /// How many of an element's bits are the item's number, after an exclusive or with `flip`; the
  /// others are the lowest of the element's own.
  unsigned bits = item_bits;
  std::uint32_t flip = 0;
};

/// Looks whether each item's elements stand together, from its first to its last, and nothing else
/// stands there; and whether items stand in order, if they have to.
class emission_oracle {
 public:
  explicit emission_oracle(std::uint32_t most_items)
      : runs_{most_items}, begin_{most_items}, end_{most_items}, wrong_{1} {}
  /// How many elements and items are wrong. Throws std::logic_error if there are too many elements.
  std::uint64_t wrong(emitted const& what, bool in_order);

 private:
  warden::buffer<std::uint32_t> runs_, begin_, end_;
  warden::buffer<std::uint64_t> wrong_;
};

}  // namespace allocation
