// SPDX-License-Identifier: Apache-2.0
/// @file
/// Forms in which the sections of a guarded array travel: alone, with a second record, with a
/// return address, or with both. Each form is a type with its own tag, so that no form pays for
/// another.
#pragma once

#include <warden/detail/execute/section_words.cuh>
#include <warden/section.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// True if `T` is a specialization of `Wrapper`.
template <template <class...> class Wrapper, class T>
inline constexpr bool is_a = false;
/// True for specializations.
template <template <class...> class Wrapper, class... Of>
inline constexpr bool is_a<Wrapper, Wrapper<Of...>> = true;

/// A 32-bit word, followed by a section.
template <class Section>
struct prefixed {
  /// 32-bit words of the section.
  static constexpr std::size_t words = (payload_bytes<Section> + 3) / 4;

  std::uint32_t data[words + 1];  ///< the word, then the section

  /// Returns the section, preceded by the word.
  WARDEN_DEVICE static prefixed of(Section const& section, std::uint32_t word) {
    prefixed p{};
    p.data[0] = word;
    if constexpr (words != 0) memcpy(&p.data[1], &section, sizeof(Section));
    return p;
  }
  /// Returns the section.
  WARDEN_DEVICE Section section() const { return read_from<Section>(&data[words != 0 ? 1 : 0]); }
  /// Returns the word.
  WARDEN_DEVICE std::uint32_t word() const { return data[0]; }
};

/// A section on two records, on its way to the owner of one of them. The word names the other
/// record, as a partner does.
template <class Section>
struct paired : prefixed<Section> {};

/// The other record of a pair, seen from the record whose owner has the message.
struct partner {
  /// Limit of the number of records of a guarded array with sections on two records.
  static constexpr std::uint32_t limit = std::uint32_t{1} << 31;

  std::uint32_t id;  ///< below `limit`
  bool is_first;     ///< true if the sender named this record first

  /// Returns the word that travels: the id, with `is_first` in the highest bit.
  WARDEN_DEVICE std::uint32_t word() const { return is_first ? id | limit : id; }
  /// Returns the partner that such a word names.
  WARDEN_DEVICE static partner of(std::uint32_t word) {
    return {word & (limit - 1), (word & limit) != 0};
  }
};

/// A section that was called. The word is its return address. `Section` may be a paired one.
template <class Section>
struct called : prefixed<Section> {};
/// True if `T` is a called section.
template <class T>
inline constexpr bool is_called = is_a<called, T>;

/// Reads the other record from the message of a pair.
template <class Section>
WARDEN_DEVICE partner partner_of(paired<Section> const& sent) {
  return partner::of(sent.data[0]);
}
/// Reads the other record from the message of a called pair.
template <class Section>
WARDEN_DEVICE partner partner_of(called<paired<Section>> const& sent) {
  return partner::of(sent.data[1]);
}
/// Writes the other record to the message of a pair.
template <class Section>
WARDEN_DEVICE void set_partner(paired<Section>& sent, partner other) {
  sent.data[0] = other.word();
}
/// Writes the other record to the message of a called pair.
template <class Section>
WARDEN_DEVICE void set_partner(called<paired<Section>>& sent, partner other) {
  sent.data[1] = other.word();
}

/// True if `T` is a paired section.
template <class T>
inline constexpr bool is_paired = is_a<paired, T>;

template <class Sent>
struct section_inside {
  using type = Sent;
};
template <class Section>
struct section_inside<paired<Section>> : section_inside<Section> {};
template <class Section>
struct section_inside<called<Section>> : section_inside<Section> {};
/// Section type of a form in which it travels.
template <class Sent>
using section_in = typename detail::section_inside<Sent>::type;

/// Form in which `Section` travels when it is sent.
template <class Section, class Record, class Context>
using sent =
    std::conditional_t<pair_section_of<Section, Record, Context>, paired<Section>, Section>;

}  // namespace detail
WARDEN_NAMESPACE_END
