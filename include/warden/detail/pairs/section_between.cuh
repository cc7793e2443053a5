// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections between the records of two guarded arrays.
#pragma once

#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN

/// Contexts of two guarded arrays, for sections between their records.
template <class First, class Second>
struct contexts {
  First first;    ///< context of the guarded array of the first records
  Second second;  ///< context of the guarded array of the second records
};

namespace detail {
template <class Section, class First, class Second, class FirstContext, class SecondContext>
concept takes_both_contexts =
    called_with<Section, First&, Second&, FirstContext const&, SecondContext const&>;
template <class Section, class First, class Second, class Context>
concept takes_first_context = called_with<Section, First&, Second&, Context const&>;
template <class Section, class First, class Second>
concept takes_no_context = called_with<Section, First&, Second&>;
}  // namespace detail

/// A section between a record of one guarded array and a record of another is called, const, in one
/// of three ways: `section(first, second, context, other)` with the contexts of both guarded
/// arrays, `section(first, second, context)` with the context of the first, or `section(first,
/// second)`.
template <class Section, class First, class Second, class FirstContext, class SecondContext>
concept section_between = is_address_free<Section> &&
    (detail::takes_both_contexts<Section, First, Second, FirstContext, SecondContext> ||
     detail::takes_first_context<Section, First, Second, FirstContext> ||
     detail::takes_no_context<Section, First, Second>);

/// Calls a section on records of two guarded arrays, with the contexts that it takes, by all lanes
/// of its group if it has several. Ignores the value that it returns.
template <class Section, class First, class Second, class FirstContext, class SecondContext>
WARDEN_DEVICE void run_section_between(Section const& section, First& first, Second& second,
                                       contexts<FirstContext, SecondContext> const& given) {
  if constexpr (detail::takes_both_contexts<Section, First, Second, FirstContext, SecondContext>) {
    static_cast<void>(detail::call(section, first, second, given.first, given.second));
  } else if constexpr (detail::takes_first_context<Section, First, Second, FirstContext>) {
    static_cast<void>(detail::call(section, first, second, given.first));
  } else {
    static_cast<void>(detail::call(section, first, second));
  }
}

WARDEN_NAMESPACE_END
