// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections that declare when they are no-ops, so that many are checked at once.
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

/// True if a section declares when it is a no-op, by a const member `is_noop(record, context)` or
/// `is_noop(record)` with a const record. It returns true if `operator()` on this record, in its
/// current state, would write neither to it nor to other memory.
///
/// Each thread checks one section, many at once, while no thread changes their records. No-op
/// sections then count as run. `is_noop` may return false for a no-op section. It must not return
/// true for any other section, which would be lost; a section that sends sections is no no-op.
/// Precondition: it writes nothing, has no collective, and may be called any number of times.
template <class Section, class Record, class Context>
inline constexpr bool has_is_noop =
    detail::noop_with_context<Section, Record, Context> || detail::noop_of_record<Section, Record>;

/// True if `Section` has a member `is_noop`, with any signature.
template <class Section, class Record, class Context>
inline constexpr bool declares_is_noop =
    detail::names_is_noop<Section> || has_is_noop<Section, Record, Context>;

/// True unless `Section` has a member `is_noop` with a wrong signature.
template <class Section, class Record, class Context>
inline constexpr bool fits_is_noop =
    !declares_is_noop<Section, Record, Context> || has_is_noop<Section, Record, Context>;

/// Returns the section's `is_noop` for `record`; false if it has none.
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
