// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device view of the arrays whose records a section on several records names.
#pragma once

#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/several/growing_rows.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Types of the records of several guarded arrays, in their order. The types differ, so each names
/// its array: `a.write<customer>(id)`.
template <class... Types>
struct record_types {};
/// In record_types: an array to which sections append records of this type.
template <class Record>
struct growing {};

namespace detail {

/// Record of an array, and true if sections append to it.
template <class Type>
struct array_type {
  using record = Type;
  static constexpr bool grows = false;
};
template <class Record>
struct array_type<growing<Record>> {
  using record = Record;
  static constexpr bool grows = true;
};

/// Device view of one array.
template <class Type>
struct section_array : run_array<typename array_type<Type>::record> {
  using record = typename array_type<Type>::record;
  static constexpr bool grows = array_type<Type>::grows;

  std::uint32_t begin = 0;  ///< number of its first record among the records of all arrays
  growing_rows rows{};      ///< unused unless `grows`

  /// Returns the number of records that sections of a run may name.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t limit() const {
    if constexpr (grows) {
      return *rows.in_use;
    } else {
      return static_cast<std::uint32_t>(this->size);
    }
  }
  /// Returns the record with this number among the records of all arrays. Precondition: it is one
  /// of this array.
  [[nodiscard]] WARDEN_DEVICE record* at(std::uint32_t number) const {
    return this->records + (number - begin);
  }
  /// True if the array has places for these rows.
  [[nodiscard]] WARDEN_DEVICE bool holds(appended_rows const& r) const {
    return r.count == 0 || r.place + r.count <= this->size;
  }
  /// Sets the places of a section's rows to zero bytes.
  WARDEN_DEVICE void clear_rows(std::uint32_t section) const {
    appended_rows const cleared = rows.rows_of(section);
    for (std::uint64_t r = cleared.place; r < cleared.place + cleared.count && r < this->size; ++r)
      memset(&this->records[r], 0, sizeof(record));  // mutation: several-clear
  }
  /// Adds the rows of a run with this many sections to those in use. One thread.
  WARDEN_DEVICE void grow(std::uint32_t sections) const {
    std::uint64_t const all = *rows.in_use + rows.total(sections);
    *rows.in_use = static_cast<std::uint32_t>(all < this->size ? all : this->size);
  }
  /// Reports an id that is not below `limit()`, of section `section`.
  WARDEN_DEVICE void report_id(std::uint32_t id, std::uint32_t section) const {
    if (id < this->size) {
      simt::fetch_add(&this->report->rows_absent, std::uint64_t{1});
    } else {
      static_cast<void>(this->report->check(id, this->size, section));
    }
  }
};

/// Device view of the arrays of a section, in order. Records have numbers: those of the first array
/// come first.
template <class... Types>
struct array_set;
template <>
struct array_set<> {
  static constexpr bool all_differ() { return true; }
};
template <class Type, class... Others>
struct array_set<Type, Others...> {
  /// Number of arrays.
  static constexpr unsigned count = 1 + sizeof...(Others);
  /// True if sections append to any array.
  static constexpr bool grows = (array_type<Type>::grows || ... || array_type<Others>::grows);

  section_array<Type> first;
  array_set<Others...> others;

  /// True if the types of records differ.
  static constexpr bool all_differ() {
    using record = typename array_type<Type>::record;
    return (!std::is_same_v<record, typename array_type<Others>::record> && ...) &&
           array_set<Others...>::all_differ();
  }
  /// Position of the array with records of this type.
  template <class Record>
  WARDEN_HOST_DEVICE static constexpr unsigned position_of() {
    if constexpr (std::is_same_v<Record, typename array_type<Type>::record>) {
      return 0;
    } else {
      static_assert(sizeof...(Others) != 0,
                    "warden: record_types has no array with records of this type");
      return 1 + array_set<Others...>::template position_of<Record>();
    }
  }
  /// True if sections append to the array with records of this type.
  template <class Record>
  WARDEN_HOST_DEVICE static constexpr bool is_growing() {
    if constexpr (std::is_same_v<Record, typename array_type<Type>::record>) {
      return array_type<Type>::grows;
    } else if constexpr (sizeof...(Others) != 0) {
      return array_set<Others...>::template is_growing<Record>();
    } else {
      return false;
    }
  }
  /// Returns the array with records of this type.
  template <class Record>
  [[nodiscard]] WARDEN_DEVICE auto const& of() const {
    if constexpr (std::is_same_v<Record, typename array_type<Type>::record>) {
      return first;
    } else {
      return others.template of<Record>();
    }
  }
  /// Calls `f(array)` for the array of the record with this number.
  template <class F>
  WARDEN_DEVICE void with_record(std::uint32_t number, F const& f) const {
    if constexpr (sizeof...(Others) != 0) {
      if (number >= others.first.begin) return others.with_record(number, f);
    }
    f(first);
  }
  /// Calls `f(array)` for the array at this position.
  template <class F>
  WARDEN_DEVICE void with_array(unsigned position, F const& f) const {
    if constexpr (sizeof...(Others) != 0) {
      if (position != 0) return others.with_array(position - 1, f);
    }
    f(first);
  }
  /// Calls `f(array, position)` for all arrays to which sections append.
  template <unsigned Position = 0, class F>
  WARDEN_HOST_DEVICE void for_growing(F const& f) const {
    if constexpr (array_type<Type>::grows) f(first, Position);
    if constexpr (sizeof...(Others) != 0) others.template for_growing<Position + 1>(f);
  }

  /// Takes the records of all arrays for a run. If another run or launch has those of one array, or
  /// that array has a failure to report, counts that, takes none and returns false. One thread. No
  /// thread waits while it has an array.
  WARDEN_DEVICE bool take() const {
    if (first.has_failed()) {
      first.report->note_skipped(&guarded_report::runs_skipped, first.health->cause());
      return false;
    }
    if (!first.take()) {
      simt::fetch_add(&first.report->runs_put_off, std::uint64_t{1});
      return false;
    }
    if constexpr (sizeof...(Others) != 0) {
      if (!others.take()) {
        // No record was accessed, so there is nothing to release.
        static_cast<void>(first.free());
        return false;
      }
    }
    return true;
  }
  /// Frees the records of all arrays. Precondition: as run_array::free.
  WARDEN_DEVICE void free() const {
    if (!first.free()) simt::fetch_add(&first.report->launches_amid, std::uint64_t{1});
    if constexpr (sizeof...(Others) != 0) others.free();
  }
};

/// Arrays of sections on the records of one guarded array, or of several.
template <class Types>
struct array_set_of {
  using type = array_set<Types>;
};
template <class... Types>
struct array_set_of<record_types<Types...>> {
  using type = array_set<Types...>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
