// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sources of the sections of `apply_async`: ranges of sections or values, functions, and numbers.
#pragma once

#include <warden/detail/block/device_range.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A contiguous range of ids of records in device memory.
template <class Range>
concept id_range = device_range<Range, std::uint32_t> || device_range<Range, std::uint32_t const>;

/// Type of an element of a contiguous range in device memory.
template <class Range>
using element_of = std::remove_cvref_t<decltype(*data_of(std::declval<Range&>()))>;
/// A contiguous range in device memory.
template <class Range>
concept any_device_range = requires {
  typename element_of<Range>;
}
&&(device_range<Range, element_of<Range>> || device_range<Range, element_of<Range> const>);

/// True if a section is made from a value alone: `Section{value}` leaves no member without one.
template <class Section, class Value>
concept made_from = requires(Value const& value) {
  Section{value};
}
&&!requires(Value const& value) { Section{value, {}}; };
/// True if a section says by `takes_index` that it is made from its index.
template <class Section>
concept made_from_index = requires {
  requires Section::takes_index;
  requires made_from<Section, std::uint32_t>;
};
/// A range, or a pointer to one, whose elements are no ids in device memory.
template <class Range>
concept wrong_ids = requires(Range const& range) {
  range.data();
  range.size();
}
&&!id_range<Range>;
/// True if the lanes of a group hold parts of a section, made from an array of values:
/// `Section::part_of(values, i, group)`.
template <class Section, class Value>
concept parts_made_from = requires(Value const* values, std::uint64_t i,
                                   lane_group<group_size_of<Section>> const& group) {
  { Section::part_of(values, i, group) } -> std::same_as<Section>;
};

/// Function that makes sections from an array of values.
template <class Section, class Value>
struct sections_from_values {
  Value const* values;
  WARDEN_DEVICE Section operator()(std::uint64_t i) const { return Section{values[i]}; }
};
/// Function that makes each lane's part of sections from an array of values.
template <class Section, class Value>
struct parts_from_values {
  Value const* values;
  WARDEN_DEVICE Section operator()(std::uint64_t i,
                                   lane_group<group_size_of<Section>> const& group) const {
    return Section::part_of(values, i, group);
  }
};
/// Function that makes sections from their numbers.
template <class Section>
struct sections_from_numbers {
  // A use in an expression that is evaluated: otherwise nvcc calls the member unused.
  static_assert(Section::takes_index);

  WARDEN_DEVICE Section operator()(std::uint64_t i) const {
    return Section{static_cast<std::uint32_t>(i)};
  }
};

/// Returns the function that makes one of the `Sections` from each of the values. `InTrees` is true
/// if trees combine the sections.
template <bool InTrees, class... Sections, class Value>
auto function_of_values(Value const* values) {
  using section = std::tuple_element_t<0, std::tuple<Sections...>>;
  if constexpr ((std::is_same_v<Value, Sections> || ...)) {
    return stored_sections<Value>{values};
  } else if constexpr (sizeof...(Sections) == 1 && parts_made_from<section, Value>) {
    static_assert(InTrees,
                  "warden: each lane of a group holds a part of this section, which needs "
                  "order::deterministic; without it, name the row of a section by payload()");
    return parts_from_values<section, Value>{values};
  } else {
    static_assert(sizeof...(Sections) == 1 && made_from<section, Value>,
                  "warden: the second range of apply_async holds sections, or values of which the "
                  "guarded array's only section type is made, as Section{value}, which sets all "
                  "of its members");
    return sections_from_values<section, Value>{values};
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
