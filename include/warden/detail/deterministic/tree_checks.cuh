// SPDX-License-Identifier: Apache-2.0
/// @file
/// Refuses guarded arrays that order::deterministic cannot run, each with a sentence.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/deterministic/tree_partial.cuh>
#include <warden/section.cuh>

#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if the policy says order::deterministic.
template <class Policy>
inline constexpr bool is_deterministic = Policy::order::in_trees;

/// Checks of a guarded array with order::deterministic.
template <class Policy, class Record, class... Sections>
class tree_checks {
  static_assert(!is_deterministic<Policy> || sizeof...(Sections) == 1,
                "warden: order::deterministic combines the sections of a record, so they have one "
                "type: give each section type a guarded array");
};
template <class Policy, class Record, class Section>
class tree_checks<Policy, Record, Section> {
  static constexpr bool checked = is_deterministic<Policy>;
  using context = typename Policy::context;
  using partial = tree_partial<Section>;
  static_assert(!checked || critical_section_of<Section, Record, context>,
                "warden: order::deterministic is for sections on one record that send no sections");
  static_assert(!checked || !has_row<Section> ||
                    (combines_rows<Section> && !declines_combining<Section>),
                "warden: order::deterministic combines the rows of a record: give the section a "
                "static part combine(part, part) of its warden::row_part, and do not let it say "
                "combines = false");
  static_assert(!checked || has_row<Section> ||
                    (combining<partial> && !declines_combining<Section>),
                "warden: order::deterministic combines the sections of a record: give the section "
                "a static Section combine(Section, Section), and do not let it say combines = "
                "false");
  static_assert(!checked || !has_combine_key<Section>,
                "warden: order::deterministic combines all sections of a record: let the section "
                "have no combine_key()");
  static_assert(!checked || has_row<Section> || std::is_constructible_v<partial, Section>,
                "warden: the section's partial cannot be made from a section");
  static_assert(!checked || has_row<Section> || critical_section_of<partial, Record, context>,
                "warden: the section's partial is no section: it is trivially copyable and called, "
                "const, as partial(record[, context])");
};

}  // namespace detail
WARDEN_NAMESPACE_END
