// SPDX-License-Identifier: Apache-2.0
/// @file
/// The message of a log: record, section tag and payload in as few words as they take. Nobody polls
/// for it, so it proves nothing about itself.
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

/// A message of `Words` 32-bit words, the first of which has the record's number, with the
/// section's tag in its highest `TagBits` bits. Loaded and stored `Alignment` bytes at a time.
template <unsigned Words, unsigned TagBits, unsigned Alignment = Words % 4 == 0 ? 16 : 8>
struct alignas(Alignment) log_message {
  std::uint32_t words[Words];  ///< the first one, then the payload

  /// Numbers of records are below this.
  static constexpr std::uint64_t limit = std::uint64_t{1} << (32 - TagBits);

  /// Position of the section's type among those of the guarded array.
  WARDEN_DEVICE unsigned tag() const {
    if constexpr (TagBits == 0) {
      return 0;
    } else {
      return words[0] >> (32 - TagBits);
    }
  }
  /// The record's number: in a log its id, in a server's window its number in the partition.
  WARDEN_DEVICE std::uint32_t local() const {
    return words[0] & static_cast<std::uint32_t>(limit - 1);
  }
  /// The same message for the record of that number.
  WARDEN_DEVICE log_message with_local(std::uint32_t number) const {
    log_message m = *this;
    m.words[0] = words[0] - local() + number;
    return m;
  }
};

/// The message that all of these sections take: 8, 16, 24, 32 or 48 bytes for the record's number
/// and the largest.
template <class... Sections>
struct log_message_of {
  /// Bytes that are used.
  static constexpr std::size_t bytes =
      sizeof(std::uint32_t) + std::max({payload_bytes<Sections>...});
  static_assert(bytes <= 48, "warden: a section's data members may take at most 44 bytes");
  static_assert(sizeof...(Sections) <= 16, "warden: a guarded array has at most 16 section types");
  /// Words of 32 bits.
  static constexpr unsigned words = bytes <= 32 ? (bytes + 7) / 8 * 2 : 12;
  /// The message.
  using type = log_message<words, std::bit_width(sizeof...(Sections) - 1)>;
};

/// How sections are written into messages of a log.
template <class Message, class... Sections>
struct log_format_by {
  static_assert(((times_among<Sections, Sections...> == 1) && ...),
                "warden: a section type stands twice among the guarded array's");
  /// Types in the list.
  static constexpr unsigned types = sizeof...(Sections);
  /// Bits of a section's tag.
  static constexpr unsigned tag_bits = std::bit_width(types - 1);
  /// What all sections take.
  using message_type = Message;

  /// The message for the record of that number.
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
  /// The section of a message whose tag says `Section`.
  template <class Section>
  WARDEN_DEVICE static Section unpack(message_type const& m) {
    return read_from<Section>(&m.words[1]);
  }
  /// Calls `f` with the section that a message carries.
  template <class F>
  WARDEN_DEVICE static void visit(message_type const& m, F f) {
    unsigned const tag = m.tag();
    ((tag == position_among<Sections, Sections...>
          ? static_cast<void>(f(read_words_from<Sections>(&m.words[1])))
          : static_cast<void>(0)),
     ...);
  }
};
/// How the sections of one guarded array are written into a log: all take the words of the largest.
template <class... Sections>
using log_format = log_format_by<typename log_message_of<Sections...>::type, Sections...>;

}  // namespace detail
WARDEN_NAMESPACE_END
