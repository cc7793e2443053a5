// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the sections of a guarded travel: alone, with a second record, with a return address, or
/// with both. Each way is a type of its own, with its own tag, so that none pays for another.
#pragma once

#include <warden/critical_section.cuh>
#include <warden/message.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// A section behind a 32-bit word.
template <class Section>
struct prefixed {
  /// 32-bit words of the section.
  static constexpr std::size_t words = (payload_bytes<Section> + 3) / 4;

  std::uint32_t data[words + 1];  ///< the word, then the section

  /// The section, behind that word.
  WARDEN_DEVICE static prefixed of(Section const& section, std::uint32_t word) {
    prefixed p{};
    p.data[0] = word;
    if constexpr (words != 0) memcpy(&p.data[1], &section, sizeof(Section));
    return p;
  }
  /// The section.
  WARDEN_DEVICE Section section() const { return read_from<Section>(&data[words != 0 ? 1 : 0]); }
  /// The word.
  WARDEN_DEVICE std::uint32_t word() const { return data[0]; }
};

/// A section on two records, on its way to the owner of the first: the word is the second one's id.
template <class Section>
struct paired : prefixed<Section> {};
/// Whether `T` is a paired section.
template <class T>
inline constexpr bool is_paired = false;
/// It is.
template <class Section>
inline constexpr bool is_paired<paired<Section>> = true;

/// A section that was called: the word is its return address. `Section` may be a paired one.
template <class Section>
struct called : prefixed<Section> {};
/// Whether `T` is a called section.
template <class T>
inline constexpr bool is_called = false;
/// It is.
template <class Section>
inline constexpr bool is_called<called<Section>> = true;

/// What travels when `Section` is sent.
template <class Section, class Record, class Context>
using sent =
    std::conditional_t<pair_section_of<Section, Record, Context>, paired<Section>, Section>;

namespace detail {
template <class... Types>
struct type_list {
  template <class... More>
  type_list<Types..., More...> operator+(type_list<More...>) const;
};
template <class Section, class Record, class Context>
using called_if_it_answers =
    std::conditional_t<answer_bytes<Section, Record, Context> != 0,
                       type_list<called<sent<Section, Record, Context>>>, type_list<>>;
template <class List>
struct format_of;
template <class... Sections>
struct format_of<type_list<Sections...>> {
  using type = message_format<Sections...>;
};
}  // namespace detail

/// How everything that a guarded's clients may send is written into messages.
template <class Record, class Context, class... Sections>
using format_for = typename detail::format_of<decltype((
    detail::type_list<sent<Sections, Record, Context>...>{} + ... +
    detail::called_if_it_answers<Sections, Record, Context>{}))>::type;

WARDEN_NAMESPACE_END
