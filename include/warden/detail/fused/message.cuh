// SPDX-License-Identifier: Apache-2.0
/// @file
/// A message holds record, section tag and payload in 16-byte flits. Each word of a flit shows by
/// itself that it is new.
///
/// - First word of a flit: bits 0 to 47 payload, then 4 bits of section tag, 12 bits of sequence
/// tag.
/// - Second word of a flit: bits 0 to 47 payload, then 16 bits of sequence tag.
///
/// A word is new exactly if its sequence tag is the expected one: the word before it in the same
/// place carried the tag before. So a reader needs no other flag, and it recognizes a flit that
/// arrives in two halves as incomplete. The first 4 payload bytes of a message are the record's
/// local number.
#pragma once

#include <warden/detail/execute/section_words.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {
/// The bits of one flit.
namespace flit {

/// Bits of payload in each word.
inline constexpr int payload_bits = 48;
/// Bits of section tag in the first word of the first flit.
inline constexpr int tag_bits = 4;
/// Mask of the payload of a word.
inline constexpr std::uint64_t payload_mask = (std::uint64_t{1} << payload_bits) - 1;
/// Mask of the section tag of a first word.
inline constexpr std::uint64_t tag_mask = ((std::uint64_t{1} << tag_bits) - 1) << payload_bits;
/// Bytes of payload in a flit.
inline constexpr int bytes_of_payload = 12;

/// Returns the first word with its sequence tag set.
WARDEN_HOST_DEVICE std::uint64_t first_stamped(std::uint64_t word, std::uint64_t sequence) {
  return (word & (payload_mask | tag_mask)) | (sequence << (payload_bits + tag_bits));
}
/// Returns true if the first word carries this sequence tag.
WARDEN_HOST_DEVICE bool first_is_of(simt::flit_words words, std::uint64_t sequence) {
  return ((words.first ^ (sequence << (payload_bits + tag_bits))) >> (payload_bits + tag_bits)) ==
         0;
}
/// Returns true if the second word carries this sequence tag.
WARDEN_HOST_DEVICE bool second_is_of(simt::flit_words words, std::uint64_t sequence) {
  return ((words.second ^ (sequence << payload_bits)) >> payload_bits) == 0;
}

/// Format of flits that carries the sequence tag in both words, so correctness does not depend on
/// the number of accesses that a flit takes.
struct sequence_in_each_word {
  /// Returns the flit with its sequence tags set.
  WARDEN_HOST_DEVICE static simt::flit_words stamped(simt::flit_words words,
                                                     std::uint64_t sequence) {
    words.first = first_stamped(words.first, sequence);
    words.second = (words.second & payload_mask) | (sequence << payload_bits);
    return words;
  }
  /// Returns true if both words carry this sequence tag.
  WARDEN_HOST_DEVICE static bool is_of(simt::flit_words words, std::uint64_t sequence) {
    bool const first = first_is_of(words, sequence);    // mutation: first-phase
    bool const second = second_is_of(words, sequence);  // mutation: second-phase
    return first && second;
  }
  /// Loads a flit.
  WARDEN_DEVICE static simt::flit_words load(simt::flit_words const* place) {
    return simt::load_flit(place);
  }
  /// Stores a flit.
  WARDEN_DEVICE static void store(simt::flit_words* place, simt::flit_words words) {
    simt::store_flit(place, words);
  }
};

}  // namespace flit

/// A message of `Flits` times 16 bytes.
template <int Flits>
struct message {
  simt::flit_words flits[Flits];  ///< in the order of their payload

  /// Three 32-bit words for each flit: the low halves of its two words, and one word split between
  /// them.
  struct payload {
    std::uint32_t words[3 * Flits];  ///< in order
  };

  /// Returns the message with that payload, and with sequence tags and section tag 0.
  WARDEN_DEVICE static message of(payload const& p) {
    message m;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) {
      std::uint64_t const split = p.words[3 * l + 2];
      m.flits[l].first = p.words[3 * l] | (split & 0xffffu) << 32;
      m.flits[l].second = p.words[3 * l + 1] | split >> 16 << 32;
    }
    return m;
  }
  /// Returns a longer message that begins with `shorter` and ends with garbage.
  template <int Fewer>
  WARDEN_DEVICE static message from(message<Fewer> const& shorter) {
    static_assert(Fewer <= Flits);
    message m;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) m.flits[l] = shorter.flits[l < Fewer ? l : 0];
    return m;
  }
  /// Returns the payload.
  WARDEN_DEVICE payload unpacked() const {
    payload p;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) {
      p.words[3 * l] = static_cast<std::uint32_t>(flits[l].first);
      p.words[3 * l + 1] = static_cast<std::uint32_t>(flits[l].second);
      // In 32 bits, because that is one instruction.
      auto const low = static_cast<std::uint32_t>(flits[l].first >> 32);
      auto const high = static_cast<std::uint32_t>(flits[l].second >> 32);
      p.words[3 * l + 2] = (low & 0xffffu) | high << 16;
    }
    return p;
  }

  /// Returns the position of the section's type among those of the guarded array.
  WARDEN_DEVICE unsigned tag() const {
    return static_cast<unsigned>((flits[0].first & flit::tag_mask) >> flit::payload_bits);
  }
  /// Returns the record's number among its owner's records.
  WARDEN_DEVICE std::uint32_t local() const { return static_cast<std::uint32_t>(flits[0].first); }
};

/// Loads each flit l from `place(l)`, in the format `Flit`. Returns true if that is a whole message
/// with this sequence tag.
template <class Flit, int Flits, class Place>
WARDEN_DEVICE bool load_message(message<Flits>& m, Place place, std::uint64_t sequence) {
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l) m.flits[l] = Flit::load(place(l));
  bool whole = true;
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l)
    whole = whole && Flit::is_of(m.flits[l], sequence);  // mutation: receive-last
  return whole;
}
/// Stores a message with this sequence tag, each flit l to `place(l)`.
template <class Flit, int Flits, class Place>
WARDEN_DEVICE void store_message(message<Flits> const& m, Place place, std::uint64_t sequence) {
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l) Flit::store(place(l), Flit::stamped(m.flits[l], sequence));
}
/// Calls `f` with the addresses of the words that change when a message is stored.
template <int Flits, class Place, class Watch>
WARDEN_DEVICE void watch_message(Place place, Watch f) {
  for (int l = 0; l < Flits; ++l) {
    f(&place(l)->first);
    f(&place(l)->second);
  }
}

/// Format of one guarded array's sections in messages. All take the flits of the largest section.
template <class... Sections>
struct message_format {
  /// Payload of a message: the local number and the largest section. Units: bytes.
  static constexpr std::size_t bytes =
      sizeof(std::uint32_t) + std::max({payload_bytes<Sections>...});
  /// Number of flits of a message, 1 to 4.
  static constexpr int flits =
      static_cast<int>((bytes + flit::bytes_of_payload - 1) / flit::bytes_of_payload);
  static_assert(flits <= 4, "warden: a section's data members may take at most 44 bytes");
  static_assert(sizeof...(Sections) <= (1u << flit::tag_bits),
                "warden: a guarded array has at most 16 section types");
  static_assert(((times_among<Sections, Sections...> == 1) && ...),
                "warden: a section type occurs twice among the guarded array's");
  /// Message type of all sections.
  using message_type = message<flits>;

  /// Returns the message for the owner's record `local`, with sequence tags 0.
  template <class Section>
  WARDEN_DEVICE static message_type pack(std::uint32_t local, Section const& section) {
    typename message_type::payload p{};
    p.words[0] = local;
    if constexpr (payload_bytes<Section> != 0) {
      memcpy(&p.words[1], &section, sizeof(Section));
    }
    message_type m = message_type::of(p);
    m.flits[0].first |= std::uint64_t{tag_of<Section>()} << flit::payload_bits;
    return m;
  }

  /// Returns the section of a message. Precondition: its tag is that of `Section`.
  template <class Section>
  WARDEN_DEVICE static Section unpack(message_type const& m) {
    auto const p = m.unpacked();
    return read_from<Section>(&p.words[1]);
  }

  /// Calls `f` with the section that a message carries.
  template <class F>
  WARDEN_DEVICE static void visit(message_type const& m, F f) {
    // With a single type, the tag is not needed.
    unsigned const tag = sizeof...(Sections) == 1 ? 0 : m.tag();
    ((tag == tag_of<Sections>() ? static_cast<void>(f(unpack<Sections>(m))) : static_cast<void>(0)),
     ...);
  }

  /// Number of types in the list.
  static constexpr unsigned types = sizeof...(Sections);
  /// A type of the list, as an argument.
  template <class Section>
  struct one_type {
    using type = Section;  ///< the type
  };
  /// Calls `f(tag_of<Section>(), one_type<Section>{})` for each type.
  template <class F>
  WARDEN_DEVICE static void for_each_type(F f) {
    (f(tag_of<Sections>(), one_type<Sections>{}), ...);
  }

  /// Returns the position of `Section` in the list.
  template <class Section>
  WARDEN_HOST_DEVICE static constexpr unsigned tag_of() {
    static_assert(
        (std::is_same_v<Section, Sections> || ...),
        "warden: this section type is not one of the guarded array's; send a section on two "
        "records with both ids");
    return position_among<Section, Sections...>;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
