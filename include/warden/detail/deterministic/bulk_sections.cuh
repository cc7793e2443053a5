// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sections of a bulk by number, and their records, as kernels read them.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/to.cuh>
#include <warden/detail/deterministic/moved_section.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A returned value as the id of its record and its section.
template <class Section>
struct returned_section {
  /// Returns true if there is a section. Sets `id`.
  WARDEN_DEVICE static bool id_of(to<Section> const& sent, std::uint64_t& id) {
    id = sent.id;
    return true;
  }
  WARDEN_DEVICE static bool id_of(nothing_or<to<Section>> const& sent, std::uint64_t& id) {
    return sent.has_value() && id_of(sent.value(), id);
  }
  /// Returns true if a function that returns sections without ids returned one.
  WARDEN_DEVICE static bool has(nothing_or<Section> const& sent) { return sent.has_value(); }
  /// Returns the section. Precondition: there is one.
  WARDEN_DEVICE static Section of(Section const& sent) { return sent; }
  WARDEN_DEVICE static Section of(nothing_or<Section> const& sent) { return sent.value(); }
  WARDEN_DEVICE static Section of(to<Section> const& sent) { return sent.section; }
  WARDEN_DEVICE static Section of(nothing_or<to<Section>> const& sent) {
    return sent.value().section;
  }
  /// Refuses all other values.
  template <class T>
  WARDEN_DEVICE static bool id_of(T const&, std::uint64_t&) {
    refuse<T>();
    return false;
  }
  template <class T>
  WARDEN_DEVICE static bool has(T const&) {
    refuse<T>();
    return false;
  }
  template <class T>
  WARDEN_DEVICE static Section of(T const& sent) {
    refuse<T>();
    return sent;
  }

 private:
  template <class T>
  WARDEN_DEVICE static void refuse() {
    static_assert(!std::is_same_v<T, T>,
                  "warden: the function of apply_async returns a section or "
                  "warden::nothing_or<Section>; without an array of ids it returns "
                  "warden::to{id, section} or warden::nothing_or<warden::to<Section>>");
  }
};

/// Returns what `f` returns for `i`, with the group as a second argument if it takes one.
template <unsigned Lanes, class Function>
WARDEN_DEVICE auto called_for(Function const& f, std::uint64_t i) {
  if constexpr (requires { f(i, lane_group<Lanes>{}); }) {
    return f(i, lane_group<Lanes>{});
  } else {
    return f(i);
  }
}

/// Sections that a function returns with their records, as send_async takes it.
template <class Section, class Function>
struct bulk_sections {
  /// True if a run moves sections instead of their numbers.
  static constexpr bool moves_sections = fits_number<Section>;
  /// True if an array has the ids, and each has a section.
  static constexpr bool has_all_ids = false;

  Function function;  ///< returns a `to<Section>`, or nothing

  /// Returns true if number `i` has a section. Sets the id of its record.
  WARDEN_DEVICE bool id_of(std::uint64_t i, std::uint64_t& id) const {
    return returned_section<Section>::id_of(function(i), id);
  }
  /// Returns section number `i`, by all lanes of a group.
  WARDEN_DEVICE Section section(std::uint64_t i) const {
    return returned_section<Section>::of(function(i));
  }
};
/// Sections that a function returns, for the records that an array names. A section is made only
/// when it is combined, unless the function returns nothing for some numbers.
template <class Section, class Function>
struct bulk_sections<Section, to_ids<1, Function>> {
  /// Not if each lane of a group makes its own part of the section.
  static constexpr bool moves_sections =
      fits_number<Section> && !requires(Function const& f, std::uint64_t i) {
    f(i, lane_group<group_size_of<Section>>{});
  };

  static constexpr bool has_all_ids = requires(Function const& f, std::uint64_t i) {
    requires std::is_convertible_v<decltype(f(i)), Section>;
  };

  to_ids<1, Function> function;

  WARDEN_DEVICE bool id_of(std::uint64_t i, std::uint64_t& id) const {
    id = function.ids[0][i];
    if constexpr (!requires { function.function(i); }) {
      return true;  // it takes a group
    } else if constexpr (std::is_convertible_v<decltype(function.function(i)), Section>) {
      return true;
    } else {
      return returned_section<Section>::has(function.function(i));
    }
  }
  WARDEN_DEVICE Section section(std::uint64_t i) const {
    return returned_section<Section>::of(called_for<group_size_of<Section>>(function.function, i));
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
