// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections whose payload is a row in memory, and such a section with the row in registers.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/row.cuh>
#include <warden/simt/simt.cuh>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

template <class Section>
concept declares_payload = std::is_member_function_pointer_v<decltype(&Section::payload)>;

template <class Row, class Section, class... Context>
Row payload_result(Row (Section::*)(Context...) const);

/// True if the section's payload is a row in memory: it declares `payload(context) const`, or
/// `payload() const`, which returns a warden::row. Its operator() then takes the lane's row_part
/// after the record.
template <class Section>
concept has_row =
    declares_payload<Section> && is_row<decltype(detail::payload_result(&Section::payload))>;

template <class Section, class Context>
concept payload_takes_context = requires(Section const& section, Context const& context) {
  section.payload(context);
};
/// True if the section has no payload, or one that a guarded array with such a context can call.
template <class Section, class Context>
inline constexpr bool fits_payload = [] {
  if constexpr (has_row<Section>) {
    return payload_takes_context<Section, Context> || requires(Section const& section) {
      section.payload();
    };
  } else {
    return !declares_payload<Section>;
  }
}();

/// Row of a section.
template <has_row Section>
using row_of = decltype(detail::payload_result(&Section::payload));
/// Lane's part of the row of a section.
template <has_row Section>
using row_part_of = typename row_of<Section>::template part<group_size_of<Section>>;

/// Size of a lane's part of the row of a section, 0 for a section without. Units: bytes.
template <class Section>
inline constexpr std::size_t row_part_bytes = [] {
  if constexpr (has_row<Section>) {
    return sizeof(row_part_of<Section>);
  } else {
    return std::size_t{0};
  }
}();

/// True if the rows of sections combine: `static part combine(part, part)`.
template <class Section>
concept combines_rows = has_row<Section> && requires(row_part_of<Section> const& part) {
  { Section::combine(part, part) } -> std::convertible_to<row_part_of<Section>>;
};

/// True unless the section has a row and a member `combine` with a wrong signature.
template <class Section>
inline constexpr bool fits_row_combine = !has_row<Section> || combines_rows<Section> || !requires {
  &Section::combine;
};

/// A section with its row, or with the combined rows of several sections, in the registers of a
/// group. It is itself a section, called as `Section` is but for the row.
template <has_row Section>
struct section_with_row {
  static constexpr unsigned group_size = group_size_of<Section>;  ///< lanes of the group

  Section section;            ///< the section; the first one if several were combined
  row_part_of<Section> part;  ///< lane's part of the row

  /// Runs the section.
  template <class Record, class... More>
  WARDEN_DEVICE auto operator()(Record& record, More const&... more) const
      -> decltype(std::declval<Section const&>()(record,
                                                 std::declval<row_part_of<Section> const&>(),
                                                 more...)) {
    return section(record, part, more...);
  }
};

/// Returns the row of a section, which is not loaded.
template <has_row Section, class Context>
WARDEN_DEVICE row_of<Section> payload_of(Section const& section, Context const& context) {
  if constexpr (payload_takes_context<Section, Context>) {
    return section.payload(context);
  } else {
    return section.payload();
  }
}
/// Loads the row of a section. All lanes of its group call it.
template <has_row Section, class Context>
WARDEN_DEVICE section_with_row<Section> with_row(Section const& section, Context const& context) {
  return {section, payload_of(section, context).load(lane_group<group_size_of<Section>>{})};
}

}  // namespace detail
WARDEN_NAMESPACE_END
