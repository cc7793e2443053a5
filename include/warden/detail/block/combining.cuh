// SPDX-License-Identifier: Apache-2.0
/// @file
/// Traits of sections that combine: which combine, what they combine to, and by which key.
#pragma once

#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// True if sections combine: `static Section combine(Section, Section)` returns one section with
/// the effect of both, in any order and grouping. `combine` itself must have no effect: some of its
/// results are discarded.
///
/// A log whose guarded array has this section type alone then combines sections on one record
/// where records repeat, unless it has an order. A section then runs once for several sends. The
/// member `static constexpr bool combines = false` of the section prevents that; `true` makes it an
/// error if sections of this type cannot combine.
template <class Section>
concept combining = requires(Section const& s) {
  { Section::combine(s, s) } -> std::convertible_to<Section>;
};

/// True if only sections of one record with equal `combine_key()` combine, a number of up to 32
/// bits. For records that hold several things, such as the bucket of a table.
template <class Section>
concept has_combine_key = requires(Section const& s) {
  { s.combine_key() } -> std::convertible_to<std::uint32_t>;
};

namespace detail {

/// Identifies sections that combine: the record's id in the low half, their key in the high half.
template <class Section>
using combining_key = std::conditional_t<has_combine_key<Section>, std::uint64_t, std::uint32_t>;
/// Returns the key of a section on record `id`.
template <class Section>
WARDEN_DEVICE combining_key<Section> combining_key_of(std::uint32_t id, Section const& section) {
  if constexpr (has_combine_key<Section>) {
    std::uint64_t const key = static_cast<std::uint32_t>(section.combine_key());
    return id | key << 32;  // mutation: other-key
  } else {
    return id;
  }
}
/// Returns one number for both. Adjacent ids, and adjacent keys, give different numbers.
WARDEN_DEVICE std::uint32_t folded(std::uint32_t key) { return key; }
/// Returns one number for a record's id and a section's key.
WARDEN_DEVICE std::uint32_t folded(std::uint64_t key) {
  return static_cast<std::uint32_t>(key) + static_cast<std::uint32_t>(key >> 32) * 0x85ebca6bu;
}

/// True if a log runs each section by itself: the section says `static constexpr bool combines =
/// false`.
template <class Section>
inline constexpr bool declines_combining = [] {
  if constexpr (requires { Section::combines; }) {
    return !Section::combines;
  } else {
    return false;
  }
}();
/// True if the section says `static constexpr bool combines = true`: it does not compile if no log
/// can combine it.
template <class Section>
inline constexpr bool demands_combining = [] {
  if constexpr (requires { Section::combines; }) {
    return Section::combines;
  } else {
    return false;
  }
}();

template <class Section>
struct partial_type {
  using type = Section;
};
template <class Section>
requires requires { typename Section::partial; }
struct partial_type<Section> {
  using type = typename Section::partial;
};

}  // namespace detail

/// Section that sections of this type combine to. It is their type `partial`, which is
/// constructible from one section, combines with its own type, and runs as they do. If they have no
/// such type it is the section itself.
template <class Section>
using partial_of = typename detail::partial_type<Section>::type;

/// Returns a `Section` as a `Partial`.
template <class Partial, class Section>
WARDEN_DEVICE Partial made_partial(Section const& section) {
  if constexpr (std::is_same_v<Partial, Section>) {
    return section;
  } else {
    return Partial(section);
  }
}

WARDEN_NAMESPACE_END
