// SPDX-License-Identifier: Apache-2.0
/// @file
/// The word that a sort moves for each section: its number or its place in a log, or the section
/// itself if it is no larger. The section is then made where its id is read, by loads of
/// neighbouring numbers, and not where it is combined, by loads that are far apart.
#pragma once

#include <warden/detail/execute/section_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A section's record, and its word.
struct alignas(8) moved_id {
  std::uint32_t id, word;
};

/// True if a section fits in the place of its number.
template <class Section>
inline constexpr bool fits_number = sizeof(Section) <= sizeof(std::uint32_t);

/// Returns the word of section `number` of a run that begins with section `first` of a bulk.
/// Precondition: there is such a section.
template <class Bulk>
WARDEN_DEVICE std::uint32_t moved_word(Bulk const& bulk, std::uint64_t first,
                                       std::uint32_t number) {
  if constexpr (Bulk::moves_sections) {
    auto const section = bulk.section(first + number);
    std::uint32_t word = 0;
    memcpy(&word, &section, sizeof(section));
    return word;
  } else if constexpr (requires { bulk.place(first); }) {
    return bulk.place(first + number);
  } else {
    return number;
  }
}
/// Returns the section of such a word.
template <class Section, class Bulk>
WARDEN_DEVICE Section section_of_word(Bulk const& bulk, std::uint64_t first, std::uint32_t word) {
  if constexpr (Bulk::moves_sections) {
    return read_from<Section>(&word);
  } else if constexpr (requires { bulk.section_at(word); }) {
    return bulk.section_at(word);
  } else {
    return bulk.section(first + word);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
