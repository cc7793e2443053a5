// SPDX-License-Identifier: Apache-2.0
/// @file
/// Guarded arrays whose sections are combined in trees.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if a fixed tree combines the sections of a record: with order::deterministic. Without an
/// order, too, if their rows combine, because many groups then work on a hot record.
template <class Policy, class Record, class... Sections>
inline constexpr bool runs_in_trees = Policy::order::in_trees;
template <class Policy, class Record, class Section>
inline constexpr bool runs_in_trees<Policy, Record, Section> =
    Policy::order::in_trees || (!Policy::order::in_order && !is_spread<Policy> &&
                                combines_rows<Section> && !declines_combining<Section> &&
                                critical_section_of<Section, Record, typename Policy::context>);

}  // namespace detail
WARDEN_NAMESPACE_END
