// SPDX-License-Identifier: Apache-2.0
/// @file
/// Formats of the messages in a log: sections as they are sent, and partials.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/deferred/log_message.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/section.cuh>

#include <cstddef>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if the sections of such a guarded array combine. They have no order and one type, which has
/// `combine`, or a `partial` that has. One thread runs each on one record, without a row, and no
/// section sends others. Sections of several types do not combine, because they share batches.
template <class Policy, class Record, class... Sections>
inline constexpr bool can_combine = false;
template <class Policy, class Record, class Section>
inline constexpr bool can_combine<Policy, Record, Section> =
    !Policy::order::in_order && combining<partial_of<Section>> && !declines_combining<Section> &&
    group_size_of<Section> == 1 && !has_row<Section> &&
    critical_section_of<Section, Record, typename Policy::context>;

/// Largest partial of a bulk run, and of a log, which is written to messages. Units: bytes.
inline constexpr std::size_t most_partial_bytes = 64, most_logged_bytes = 44;
/// True if a log combines the sections of such a guarded array.
template <class Policy, class Record, class... Sections>
inline constexpr bool combines_in_log =
    can_combine<Policy, Record, Sections...> &&
    ((payload_bytes<partial_of<Sections>> <= most_logged_bytes) && ...);

/// True if the log of such a guarded array stores numbers and payloads apart. Trees read the
/// numbers of all messages in turn, and each payload on its own. A payload of 16 or 32 bytes is
/// then in one sector of memory. Messages that ranks exchange are not divided.
template <class Policy, class Record, class... Sections>
inline constexpr bool stores_apart = false;
template <class Policy, class Record, class Section>
inline constexpr bool stores_apart<Policy, Record, Section> =
    Policy::order::in_trees && !is_spread<Policy> &&
    (payload_bytes<Section> == 16 || payload_bytes<Section> == 32);

/// Form of a log's messages.
enum class log_form : unsigned char {
  plain,      ///< sections as they are sent
  combining,  ///< blocks combine sections
  apart       ///< one section type, see `stores_apart`
};
/// Form of the messages in the log of such a guarded array.
template <class Policy, class Record, class... Sections>
inline constexpr log_form log_form_of =
    combines_in_log<Policy, Record, Sections...> ? log_form::combining
    : stores_apart<Policy, Record, Sections...>  ? log_form::apart
                                                 : log_form::plain;

/// Format of messages of such a form that are not wide.
template <log_form Form, class... Sections>
struct narrow_format {
  using type = log_format<Sections...>;
};
template <class Section>
struct narrow_format<log_form::apart, Section> {
  using type = log_format_by<apart_message<Section>, Section>;
};

/// Formats of a log's messages. If sections combine and their partials need a wider message, the
/// log has both kinds, in separate batches. Partials that need no more room also stand for single
/// sections, so the log has one kind.
template <log_form Form, class... Sections>
struct log_formats {
  /// True if sections combine.
  static constexpr bool combines = Form == log_form::combining;
  /// Section type of a guarded array with one type; otherwise the first one.
  using sent = std::tuple_element_t<0, std::tuple<Sections...>>;
  /// Type that several sections combine to.
  using partial = std::conditional_t<combines, partial_of<sent>, sent>;
  /// True if partials have messages of their own.
  static constexpr bool two_widths =
      combines && log_message_of<partial>::words > log_message_of<sent>::words;
  /// Section type of the narrow messages, if they have one type.
  using section = std::conditional_t<two_widths, sent, partial>;
  /// Format of all messages, or of the narrow ones.
  using format = std::conditional_t<combines, log_format<section>,
                                    typename narrow_format<Form, Sections...>::type>;
  /// Message of that format.
  using message_type = typename format::message_type;
  /// Places of narrow messages that a wide one takes.
  static constexpr unsigned places =
      (log_message_of<partial>::words * 4 + sizeof(message_type) - 1) / sizeof(message_type);
  /// Format of the wide messages. A wide message takes whole places, and may begin at any place.
  using wide_format =
      log_format_by<log_message<places * sizeof(message_type) / 4, 0, alignof(message_type)>,
                    partial>;

  /// Returns the message for a section as it is sent.
  template <class Section>
  WARDEN_DEVICE static message_type pack(std::uint32_t number, Section const& s) {
    if constexpr (combines && std::is_same_v<Section, sent>) {
      return format::pack(number, made_partial<section>(s));
    } else {
      return format::pack(number, s);
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
