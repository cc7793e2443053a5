// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tree in which order::deterministic combines the sections of a record.
///
/// The sections of the record, in order, are the leaves. `chunk_sections` neighbouring leaves have
/// one parent, a chunk; `tree_fan_in` neighbouring nodes of a higher level have one parent. They
/// are counted from the record's first; the last parent of a level may have fewer children. A
/// node's value is that of its children, combined one after another from the first to the last. The
/// root's value is applied to the record. So the tree depends on nothing but the number of
/// sections.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest number of children of a node that is a parent of leaves, and of any other.
inline constexpr std::uint32_t chunk_sections = 32, tree_fan_in = 32;

/// Returns the largest number of leaves below a node of a level.
WARDEN_HOST_DEVICE constexpr std::uint64_t leaves_below(unsigned level) {
  if (level == 0) return 1;
  return level == 1 ? chunk_sections : tree_fan_in * leaves_below(level - 1);
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
  if constexpr (Level < 7) {
    if (leaves > leaves_below(Level)) return combined_in_tree<Level + 1>(leaves, leaf);
  }
  return tree_node<Level>(0, leaves, leaf);
}

/// Returns the number of chunks of a record with `sections` sections.
WARDEN_HOST_DEVICE constexpr std::uint32_t chunks_of(std::uint32_t sections) {
  return sections / chunk_sections + (sections % chunk_sections != 0 ? 1 : 0);
}

}  // namespace detail
WARDEN_NAMESPACE_END
