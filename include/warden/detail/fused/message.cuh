// SPDX-License-Identifier: Apache-2.0
/// @file
/// The message: record, section tag and payload in 16-byte flits whose words each prove themselves.
///
/// | word of a flit | bits 0 to 47 | bits 48 to 63 |
/// |---|---|---|
/// | first | payload | 4 bits of section tag, 12 bits of lap |
/// | second | payload | 16 bits of lap |
///
/// A word is new exactly when its lap field is the expected one: the word before it in the same
/// place carried the lap before. So a reader needs no second flag, and a flit that arrives in two
/// halves is seen to be incomplete. The first four payload bytes of a message are the record's
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
/// The payload of a word.
inline constexpr std::uint64_t payload_mask = (std::uint64_t{1} << payload_bits) - 1;
/// The tag of a first word.
inline constexpr std::uint64_t tag_mask = ((std::uint64_t{1} << tag_bits) - 1) << payload_bits;
/// Bytes of payload in a flit.
inline constexpr int bytes_of_payload = 12;

/// The first word with its lap field set.
WARDEN_HOST_DEVICE std::uint64_t first_stamped(std::uint64_t word, std::uint64_t lap) {
  return (word & (payload_mask | tag_mask)) | (lap << (payload_bits + tag_bits));
}
/// Whether the first word was published in this lap.
WARDEN_HOST_DEVICE bool first_is_of(simt::flit_words words, std::uint64_t lap) {
  return ((words.first ^ (lap << (payload_bits + tag_bits))) >> (payload_bits + tag_bits)) == 0;
}
/// Whether the second word was published in this lap.
WARDEN_HOST_DEVICE bool second_is_of(simt::flit_words words, std::uint64_t lap) {
  return ((words.second ^ (lap << payload_bits)) >> payload_bits) == 0;
}

/// How flits are marked, moved and checked: the lap is in both words, so nothing depends on how
/// many accesses a flit takes.
struct sequence_in_each_word {
  /// The flit with its lap fields set.
  WARDEN_HOST_DEVICE static simt::flit_words stamped(simt::flit_words words, std::uint64_t lap) {
    words.first = first_stamped(words.first, lap);
    words.second = (words.second & payload_mask) | (lap << payload_bits);
    return words;
  }
  /// Whether both words were published in this lap.
  WARDEN_HOST_DEVICE static bool is_of(simt::flit_words words, std::uint64_t lap) {
    bool const first = first_is_of(words, lap);    // mutation: first-phase
    bool const second = second_is_of(words, lap);  // mutation: second-phase
    return first && second;
  }
  /// What lies in a flit.
  WARDEN_DEVICE static simt::flit_words load(simt::flit_words const* place) {
    return simt::load_flit(place);
  }
  /// Writes a flit.
  WARDEN_DEVICE static void store(simt::flit_words* place, simt::flit_words words) {
    simt::store_flit(place, words);
  }
};

}  // namespace flit

/// A message of `Flits` times 16 bytes.
template <int Flits>
struct message {
  simt::flit_words flits[Flits];  ///< in the order of their payload

  /// Three 32-bit words a flit: the low halves of its two words, and one split between them.
  struct payload {
    std::uint32_t words[3 * Flits];  ///< in order
  };

  /// The message with that payload, its lap fields and tag zero.
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
  /// A shorter one, with garbage behind it.
  template <int Fewer>
  WARDEN_DEVICE static message from(message<Fewer> const& shorter) {
    static_assert(Fewer <= Flits);
    message m;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) m.flits[l] = shorter.flits[l < Fewer ? l : 0];
    return m;
  }
  /// What it carries.
  WARDEN_DEVICE payload unpacked() const {
    payload p;
    WARDEN_UNROLL
    for (int l = 0; l < Flits; ++l) {
      p.words[3 * l] = static_cast<std::uint32_t>(flits[l].first);
      p.words[3 * l + 1] = static_cast<std::uint32_t>(flits[l].second);
      // In 32 bits, where it is one instruction.
      auto const low = static_cast<std::uint32_t>(flits[l].first >> 32);
      auto const high = static_cast<std::uint32_t>(flits[l].second >> 32);
      p.words[3 * l + 2] = (low & 0xffffu) | high << 16;
    }
    return p;
  }

  /// Position of the section's type among those of the guarded array.
  WARDEN_DEVICE unsigned tag() const {
    return static_cast<unsigned>((flits[0].first & flit::tag_mask) >> flit::payload_bits);
  }
  /// The record's number among its owner's.
  WARDEN_DEVICE std::uint32_t local() const { return static_cast<std::uint32_t>(flits[0].first); }
};

/// Loads what lies at `place(l)` for each flit l, proved as `Flit` says; true if that is a whole
/// message of that lap.
template <class Flit, int Flits, class Place>
WARDEN_DEVICE bool load_message(message<Flits>& m, Place place, std::uint64_t lap) {
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l) m.flits[l] = Flit::load(place(l));
  bool whole = true;
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l)
    whole = whole && Flit::is_of(m.flits[l], lap);  // mutation: receive-last
  return whole;
}
/// Stores a message of that lap, each flit l to `place(l)`.
template <class Flit, int Flits, class Place>
WARDEN_DEVICE void store_message(message<Flits> const& m, Place place, std::uint64_t lap) {
  WARDEN_UNROLL
  for (int l = 0; l < Flits; ++l) Flit::store(place(l), Flit::stamped(m.flits[l], lap));
}
/// Calls `f` with the addresses of the words that change when a message is stored.
template <int Flits, class Place, class Watch>
WARDEN_DEVICE void watch_message(Place place, Watch f) {
  for (int l = 0; l < Flits; ++l) {
    f(&place(l)->first);
    f(&place(l)->second);
  }
}

/// How the sections of one guarded array are written into messages: all take the flits of the
/// largest.
template <class... Sections>
struct message_format {
  /// Payload of a message, in bytes: the local number and the largest section.
  static constexpr std::size_t bytes =
      sizeof(std::uint32_t) + std::max({payload_bytes<Sections>...});
  /// Flits of a message, 1 to 4.
  static constexpr int flits =
      static_cast<int>((bytes + flit::bytes_of_payload - 1) / flit::bytes_of_payload);
  static_assert(flits <= 4, "warden: a section's data members may take 44 bytes at most");
  static_assert(sizeof...(Sections) <= (1u << flit::tag_bits),
                "warden: a guarded array has 16 section types at most");
  static_assert(((times_among<Sections, Sections...> == 1) && ...),
                "warden: a section type stands twice among the guarded array's");
  /// The message all sections take.
  using message_type = message<flits>;

  /// The message for the owner's record `local`, its lap fields zero.
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

  /// The section of a message whose tag says `Section`.
  template <class Section>
  WARDEN_DEVICE static Section unpack(message_type const& m) {
    auto const p = m.unpacked();
    return read_from<Section>(&p.words[1]);
  }

  /// Calls `f` with the section that a message carries.
  template <class F>
  WARDEN_DEVICE static void visit(message_type const& m, F f) {
    // With one type alone there is nothing to tell apart.
    unsigned const tag = sizeof...(Sections) == 1 ? 0 : m.tag();
    ((tag == tag_of<Sections>() ? static_cast<void>(f(unpack<Sections>(m))) : static_cast<void>(0)),
     ...);
  }

  /// Types in the list.
  static constexpr unsigned types = sizeof...(Sections);
  /// A type of the list.
  template <class Section>
  struct one_type {
    using type = Section;  ///< it
  };
  /// Calls `f(tag_of<Section>(), one_type<Section>{})` for each type.
  template <class F>
  WARDEN_DEVICE static void for_each_type(F f) {
    (f(tag_of<Sections>(), one_type<Sections>{}), ...);
  }

  /// The position of `Section` in the list.
  template <class Section>
  WARDEN_HOST_DEVICE static constexpr unsigned tag_of() {
    static_assert(
        (std::is_same_v<Section, Sections> || ...),
        "warden: this section type is not one of the guarded array's; one on two records is sent "
        "with the ids of both");
    return position_among<Section, Sections...>;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
