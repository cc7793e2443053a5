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

/// True if the section runs on a copy of its record: it declares `static copy
/// load_record(record const&, ...)`. The lanes of a group hold the copy in registers from one
/// section of the record to the next.
template <class Section>
concept keeps_record = requires {
  &Section::load_record;
};
/// True if the section stores a copy, with any signature.
template <class Section>
concept stores_record = requires {
  &Section::store_record;
};
template <class Copy, class... Arguments>
Copy loaded_copy(Copy (*)(Arguments...));
/// A lane's copy of the record of a section.
template <keeps_record Section>
using copy_of = decltype(detail::loaded_copy(&Section::load_record));

/// Stands for what a section without a member `prepare` prepares.
struct no_preparation {};
/// True if the section computes something from its row alone: `prepare(part, group) const`.
template <class Section>
concept prepares = has_row<Section> &&
    requires(Section const& section, row_part_of<Section> const& part,
             lane_group<group_size_of<Section>> const& group) {
  section.prepare(part, group);
};
/// True if the section has a member `prepare`, with any signature.
template <class Section>
concept declares_prepare = requires {
  &Section::prepare;
};
template <class Section>
struct prepared_by {
  using type = no_preparation;
};
template <prepares Section>
struct prepared_by<Section> {
  using type = std::remove_cvref_t<decltype(std::declval<Section const&>().prepare(
      std::declval<row_part_of<Section> const&>(),
      std::declval<lane_group<group_size_of<Section>> const&>()))>;
};
/// Result of the section's member `prepare`.
template <class Section>
using prepared_of = typename prepared_by<Section>::type;
/// Returns what a section prepares. All lanes of its group call it.
template <has_row Section>
WARDEN_DEVICE prepared_of<Section> prepare(Section const& section,
                                           row_part_of<Section> const& part) {
  if constexpr (prepares<Section>) {
    return section.prepare(part, lane_group<group_size_of<Section>>{});
  } else {
    return {};
  }
}

/// Runs a section on a copy of its record. `more` is what it takes after row and
/// preparation.
template <prepares Section, class... More>
WARDEN_DEVICE auto run_on_copy(Section const& section, copy_of<Section>& copy,
                               row_part_of<Section> const& part,
                               prepared_of<Section> const& prepared, More const&... more)
    -> decltype(section(copy, part, prepared, more...)) {
  return section(copy, part, prepared, more...);
}
template <class Section, class... More>
requires(!prepares<Section>) WARDEN_DEVICE
    auto run_on_copy(Section const& section, copy_of<Section>& copy,
                     row_part_of<Section> const& part, no_preparation, More const&... more)
        -> decltype(section(copy, part, more...)) {
  return section(copy, part, more...);
}
/// A section with its row and a copy of its record. It is itself a section of the record,
/// which it does not touch. The copy belongs to the caller.
template <keeps_record Section>
struct section_on_copy {
  static constexpr unsigned group_size = group_size_of<Section>;  ///< lanes of the group

  Section const& section;                ///< the section
  copy_of<Section>& copy;                ///< lane's copy of the record
  row_part_of<Section> const& part;      ///< lane's part of the row
  prepared_of<Section> const& prepared;  ///< result of its `prepare`

  /// Runs the section.
  template <class Record, class... More>
  WARDEN_DEVICE auto operator()(Record&, More const&... more) const
      -> decltype(detail::run_on_copy(section, copy, part, prepared, more...)) {
    return detail::run_on_copy(section, copy, part, prepared, more...);
  }
};
/// Returns the copy of a record, as a section of it.
template <keeps_record Section>
struct copy_loader {
  static constexpr unsigned group_size = group_size_of<Section>;  ///< lanes of the group

  /// Loads the copy.
  template <class Record, class... More>
  WARDEN_DEVICE auto operator()(Record const& record, More const&... more) const
      -> decltype(Section::load_record(record, more...)) {
    return Section::load_record(record, more...);
  }
};
/// Stores the copy of a record, as a section of it.
template <keeps_record Section>
struct copy_storer {
  static constexpr unsigned group_size = group_size_of<Section>;  ///< lanes of the group

  copy_of<Section> const& copy;  ///< lane's copy

  /// Stores the copy, once all lanes have loaded theirs.
  template <class Record, class... More>
  WARDEN_DEVICE auto operator()(Record& record, More const&... more) const
      -> decltype(static_cast<void>(Section::store_record(record, copy, more...))) {
    lane_group<group_size>{}.sync();  // mutation: copy-store
    Section::store_record(record, copy, more...);
  }
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
/// Section that runs on a copy of its record, with its row.
template <has_row Section>
requires keeps_record<Section>
struct section_with_row<Section> {
  static constexpr unsigned group_size = group_size_of<Section>;  ///< see above

  Section section;            ///< see above
  row_part_of<Section> part;  ///< see above

  /// Loads the copy, runs the section on it and stores it.
  template <class Record, class... More>
  WARDEN_DEVICE auto operator()(Record& record, More const&... more) const
      -> decltype(std::declval<section_on_copy<Section> const&>()(record, more...)) {
    auto copy = copy_loader<Section>{}(record, more...);
    auto const prepared = detail::prepare(section, part);
    section_on_copy<Section> const on_copy{section, copy, part, prepared};
    copy_storer<Section> const store{copy};
    if constexpr (std::is_void_v<decltype(on_copy(record, more...))>) {
      on_copy(record, more...);
      store(record, more...);
    } else {
      auto const answer = on_copy(record, more...);
      store(record, more...);
      return answer;
    }
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
