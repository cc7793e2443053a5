// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values of the nodes of a tree: what the sections of a record combine to.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The combined rows of sections whose payload is a row. It holds no section, because the one that
/// runs is the first of the record.
template <has_row Section>
struct combined_rows {
  row_part_of<Section> part;  ///< lane's part

  /// Combines the rows of both.
  WARDEN_DEVICE static combined_rows combine(combined_rows const& a, combined_rows const& b) {
    return {Section::combine(a.part, b.part)};
  }
};

template <class Section>
struct tree_partial_type {
  using type = partial_of<Section>;
};
template <has_row Section>
struct tree_partial_type<Section> {
  using type = combined_rows<Section>;
};
/// Type to which the sections of a record combine.
template <class Section>
using tree_partial = typename tree_partial_type<Section>::type;

}  // namespace detail
WARDEN_NAMESPACE_END
