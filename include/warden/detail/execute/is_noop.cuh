// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections that say when they would change nothing, so that many are asked at once.
#pragma once

#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <concepts>

WARDEN_NAMESPACE_BEGIN
namespace detail {

template <class Section>
concept names_is_noop = requires {
  &Section::is_noop;
};
template <class Section, class Record, class Context>
concept noop_with_context = requires(Section const& section, Record const& record,
                                     Context const& context) {
  { section.is_noop(record, context) } -> std::same_as<bool>;
};
template <class Section, class Record>
concept noop_of_record = requires(Section const& section, Record const& record) {
  { section.is_noop(record) } -> std::same_as<bool>;
};

/// Whether a section says when it would change nothing: `section.is_noop(record, context)`,
/// or `section.is_noop(record)`, const, of a record that is const; true if `operator()` on
/// this record, as it now is, would write neither to it nor anywhere else. Sections are asked by a
/// lane each, many at once, while nobody changes their records, and those that would change nothing
/// are then done. It may be false of one that would change nothing, and must not be true of another
/// one: that would be lost. It writes nothing, has no collective, and is asked as often as it
/// takes.
template <class Section, class Record, class Context>
inline constexpr bool has_is_noop =
    detail::noop_with_context<Section, Record, Context> || detail::noop_of_record<Section, Record>;

/// Whether it has a member of that name, which may be wrong.
template <class Section, class Record, class Context>
inline constexpr bool declares_is_noop =
    detail::names_is_noop<Section> || has_is_noop<Section, Record, Context>;

/// What a section says of `record`; false if it says nothing of the kind.
template <class Section, class Record, class Context>
WARDEN_DEVICE bool is_noop(Section const& section, Record const& record, Context const& context) {
  if constexpr (detail::noop_with_context<Section, Record, Context>) {
    return section.is_noop(record, context);
  } else if constexpr (detail::noop_of_record<Section, Record>) {
    return section.is_noop(record);
  } else {
    return false;
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
