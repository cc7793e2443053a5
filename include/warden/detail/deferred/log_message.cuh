// SPDX-License-Identifier: Apache-2.0
/// @file
/// Message of a log: record, section tag and payload in as few words as possible. No thread polls
/// for it, so it has no sequence tag.
#pragma once

#include <warden/detail/execute/section_words.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A message of `Words` 32-bit words. The first word holds the record's number and, in its highest
/// `TagBits` bits, the section's tag. Loaded and stored `Alignment` bytes at a time.
template <unsigned Words, unsigned TagBits, unsigned Alignment = Words % 4 == 0 ? 16 : 8>
struct alignas(Alignment) log_message {
  std::uint32_t words[Words];  ///< number and tag, then the payload

  /// Numbers of records are below this.
  static constexpr std::uint64_t limit = std::uint64_t{1} << (32 - TagBits);

  /// Returns the position of the section's type among those of the guarded array.
  WARDEN_DEVICE unsigned tag() const {
    if constexpr (TagBits == 0) {
      return 0;
    } else {
      return words[0] >> (32 - TagBits);
    }
  }
  /// Returns the record's number: its id in a log, its number in the partition in a server's
  /// window.
  WARDEN_DEVICE std::uint32_t local() const {
    return words[0] & static_cast<std::uint32_t>(limit - 1);
  }
  /// Returns this message for record `number`.
  WARDEN_DEVICE log_message with_local(std::uint32_t number) const {
    log_message m = *this;
    m.words[0] = words[0] - local() + number;
    return m;
  }
};

/// The message that fits the record's number and the largest of these sections: 8, 16, 24, 32 or 48
/// bytes.
template <class... Sections>
struct log_message_of {
  /// Bytes in use.
  static constexpr std::size_t bytes =
      sizeof(std::uint32_t) + std::max({payload_bytes<Sections>...});
  static_assert(bytes <= 48, "warden: a section's data members may take at most 44 bytes");
  static_assert(sizeof...(Sections) <= 16, "warden: a guarded array has at most 16 section types");
  /// Words of 32 bits.
  static constexpr unsigned words = bytes <= 32 ? (bytes + 7) / 8 * 2 : 12;
  /// Type of the message.
  using type = log_message<words, std::bit_width(sizeof...(Sections) - 1)>;
};

/// Message of one section whose number and payload are stored apart in the log: it has no padding,
/// and its payload is whole parts of 16 bytes, so that each one is aligned.
template <class Section>
using apart_message = log_message<payload_bytes<Section> / 4 + 1, 0, 4>;
/// True if a log stores the numbers and the payloads of such messages apart.
template <class Message>
inline constexpr bool is_apart = false;
template <unsigned Words, unsigned TagBits>
inline constexpr bool is_apart<log_message<Words, TagBits, 4>> = true;

/// Writes sections into messages of a log, and reads them.
template <class Message, class... Sections>
struct log_format_by {
  static_assert(((times_among<Sections, Sections...> == 1) && ...),
                "warden: a section type occurs twice among the guarded array's");
  /// Number of types in the list.
  static constexpr unsigned types = sizeof...(Sections);
  /// Bits of a section's tag.
  static constexpr unsigned tag_bits = std::bit_width(types - 1);
  /// Message of all sections.
  using message_type = Message;

  /// Returns the message of a section for record `number`.
  template <class Section>
  WARDEN_DEVICE static message_type pack(std::uint32_t number, Section const& section) {
    static_assert((std::is_same_v<Section, Sections> || ...),
                  "warden: this section type is not one of the guarded array's");
    message_type m{};
    m.words[0] = number;
    if constexpr (types > 1) m.words[0] |= position_among<Section, Sections...> << (32 - tag_bits);
    if constexpr (payload_bytes<Section> != 0) memcpy(&m.words[1], &section, sizeof(Section));
    return m;
  }
  /// Returns the section of a message. Precondition: its tag is that of `Section`.
  template <class Section>
  WARDEN_DEVICE static Section unpack(message_type const& m) {
    return read_from<Section>(&m.words[1]);
  }
  /// Calls `f` with the section that a message carries.
  template <class F>
  WARDEN_DEVICE static void visit(message_type const& m, F f) {
    unsigned const tag = m.tag();
    ((tag == position_among<Sections, Sections...>
          ? static_cast<void>(f(read_from<Sections>(&m.words[1])))
          : static_cast<void>(0)),
     ...);
  }
};
/// Format of the sections of one guarded array in a log: all have the size of the largest.
template <class... Sections>
using log_format = log_format_by<typename log_message_of<Sections...>::type, Sections...>;

}  // namespace detail
WARDEN_NAMESPACE_END
