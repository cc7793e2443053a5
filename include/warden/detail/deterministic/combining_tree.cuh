// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tree in which order::deterministic combines the sections of a record.
///
/// The sections of the record, in order, are the leaves. `strip_sections` neighbouring leaves have
/// one parent, a strip; neighbouring strips of `band_sections` leaves have one, a band;
/// neighbouring bands of `chunk_sections` leaves have one, a chunk; `tree_fan_in` neighbouring
/// nodes of a higher level have one parent. They are counted from the record's first; the last
/// parent of a level may have fewer children. A node's value is that of its children, combined one
/// after another from the first to the last. The root's value is applied to the record. So the tree
/// depends on nothing but the number of sections.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest number of sections of a strip, of a band and of a chunk, and of children of any higher
/// node.
inline constexpr std::uint32_t strip_sections = 8, band_sections = 32, chunk_sections = 256,
                               tree_fan_in = 32;

/// Returns the largest number of leaves below a node of a level.
WARDEN_HOST_DEVICE constexpr std::uint64_t leaves_below(unsigned level) {
  if (level == 0) return 1;
  if (level == 1) return strip_sections;
  if (level == 2) return band_sections;
  return level == 3 ? chunk_sections : tree_fan_in * leaves_below(level - 1);
}

/// Returns the value of the node of level `Level` whose first leaf is `first`, among `leaves`
/// leaves. `leaf(i)` returns the value of leaf i.
template <unsigned Level, class Leaf>
WARDEN_DEVICE auto tree_node(std::uint64_t first, std::uint64_t leaves, Leaf const& leaf) {
  if constexpr (Level == 0) {
    return leaf(first);
  } else {
    constexpr std::uint64_t width = leaves_below(Level - 1), children = leaves_below(Level) / width;
    auto sum = tree_node<Level - 1>(first, leaves, leaf);
    for (std::uint64_t child = 1; child < children; ++child) {
      std::uint64_t const at = first + child * width;
      if (at < leaves) sum = decltype(sum)::combine(sum, tree_node<Level - 1>(at, leaves, leaf));
    }
    return sum;
  }
}
/// Returns the value of the tree over `leaves` leaves, at least 1 and at most 2^33. One thread,
/// without memory: it defines the tree, and tests compare runs with it.
template <unsigned Level = 0, class Leaf>
WARDEN_DEVICE auto combined_in_tree(std::uint64_t leaves, Leaf const& leaf) {
  if constexpr (Level < 8) {
    if (leaves > leaves_below(Level)) return combined_in_tree<Level + 1>(leaves, leaf);
  }
  return tree_node<Level>(0, leaves, leaf);
}

}  // namespace detail
WARDEN_NAMESPACE_END
