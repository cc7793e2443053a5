// SPDX-License-Identifier: Apache-2.0
/// @file
/// What lies in a log: sections as they are sent, and what several of them were combined to.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/deferred/log_message.cuh>

#include <cstddef>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The messages of a log. Where sections combine and their partials take a wider message it has
/// both, in batches of their own; partials that take no more stand for single sections as well, so
/// that there is one type.
template <bool Combines, class... Sections>
struct log_formats {
  /// The section, where a guarded array has one type alone; the first otherwise.
  using sent = std::tuple_element_t<0, std::tuple<Sections...>>;
  /// What several of them become.
  using partial = std::conditional_t<Combines, partial_of<sent>, sent>;
  /// Whether partials have messages of their own.
  static constexpr bool two_widths =
      Combines && log_message_of<partial>::words > log_message_of<sent>::words;
  /// What the narrow messages hold, where it is of one type.
  using section = std::conditional_t<two_widths, sent, partial>;
  /// All there are, or the narrow ones.
  using format = std::conditional_t<Combines, log_format<section>, log_format<Sections...>>;
  /// A message as that format writes it.
  using message_type = typename format::message_type;
  /// Places of narrow messages that a wide one takes.
  static constexpr unsigned places =
      (log_message_of<partial>::words * 4 + sizeof(message_type) - 1) / sizeof(message_type);
  /// The wide ones: as many whole places, wherever they begin.
  using wide_format =
      log_format_by<log_message<places * sizeof(message_type) / 4, 0, alignof(message_type)>,
                    partial>;

  /// The message for a section as it is sent.
  template <class Section>
  WARDEN_DEVICE static message_type pack(std::uint32_t number, Section const& s) {
    if constexpr (Combines && std::is_same_v<Section, sent>) {
      return format::pack(number, made_partial<section>(s));
    } else {
      return format::pack(number, s);
    }
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
