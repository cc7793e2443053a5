// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records that a section on several records is given.
#pragma once

#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/pair_records.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/detail/several/small_records.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Result of a section on several records.
enum class outcome : unsigned char {
  commit,   ///< the copies that the section wrote become the records
  abort,    ///< all records are unchanged
  refused,  ///< an access was wrong, which `wait` reports; all records are unchanged
  not_run,  ///< the section did not run, which `wait` reports; all records are unchanged
};

namespace detail {

/// Copies a record, by words as wide as its type allows: memcpy from memory of bytes would copy
/// single bytes.
template <class Record>
WARDEN_DEVICE void copy_record(Record* to, Record const* from) {
  ::new (static_cast<void*>(to)) Record(*from);
}

/// Records of a section, and copies of those that it writes. Between one section on a record and
/// the next, little should be left to do. So where the section finds its records is noted before
/// its turn comes, by position.
template <class Set, unsigned Most>
class section_records;
template <class... Types, unsigned Most>
class section_records<array_set<Types...>, Most> {
  using set = array_set<Types...>;
  static_assert((std::is_trivially_copyable_v<typename array_type<Types>::record> && ...));
  static constexpr std::size_t alignment =
      std::max({alignof(typename array_type<Types>::record)...});

 public:
  /// Bytes of each copy.
  static constexpr std::size_t copy_bytes =
      (std::max({sizeof(typename array_type<Types>::record)...}) + alignment - 1) / alignment *
      alignment;

  /// Constructs the accesses to the records with the numbers `ids`. Before the section runs, each
  /// must have a place; then `use_copies` is called, and copies are made.
  WARDEN_DEVICE section_records(set const& all, std::uint32_t const (&ids)[Most],
                                named_accesses const& named, std::uint32_t section)
      : all_{all}, named_{named} {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      // Indexed by the members below, so the caller's ids stay in registers.
      ids_[s] = ids[s];
    }
    all_.for_growing(
        [&](auto const& array, unsigned k) { rows_[k] = array.rows.rows_of(section); });
    memset(copies_ + Most * copy_bytes, 0, copy_bytes);
  }
  section_records(section_records const&) = delete;
  section_records& operator=(section_records const&) = delete;

  /// Says that the records of the accesses in a mask are in their arrays.
  WARDEN_DEVICE void place_in_arrays(unsigned slots) {
    for_each(slots,
             [&](auto const& array, unsigned slot) { places_[slot] = array.at(ids_[slot]); });
  }
  /// Says where the record of an access is, if it is not in its array.
  WARDEN_DEVICE void place_at(unsigned slot, std::byte* record) { places_[slot] = record; }
  /// Says that the section uses copies of the accesses in a mask, which has all writes.
  WARDEN_DEVICE void use_copies(unsigned slots) {
    WARDEN_UNROLL
    for (unsigned p = 0; p < Most; ++p) {
      unsigned const slot = p < named_.positions ? named_.slot_of(p) : Most;
      bool const has_copy = slot == Most || (slots >> slot & 1) != 0;
      used_[p] = has_copy ? copies_ + slot * copy_bytes : places_[slot];
      if (slot != Most && named_.writes_to(slot)) written_ |= 1u << p;
    }
  }
  /// Copies the records of the accesses in a mask.
  WARDEN_DEVICE void copy(unsigned slots) {
    for_each(slots, [&](auto const& array, unsigned slot) {
      using record = std::remove_reference_t<decltype(*array.records)>;
      copy_record(&copy_of<record>(slot), static_cast<record const*>(places_[slot]));
    });
  }
  /// True if the section used a record that it had not named.
  [[nodiscard]] WARDEN_DEVICE bool is_misused() const { return is_misused_; }
  /// Writes the copies of the accesses in a mask back. Calls `written(record)` after each.
  template <class Written>
  WARDEN_DEVICE void commit(unsigned slots, Written const& written) {
    for_each(slots, [&](auto const& array, unsigned slot) {
      using record = std::remove_reference_t<decltype(*array.records)>;
      auto* const to = static_cast<record*>(places_[slot]);
      copy_record(to, &copy_of<record>(slot));
      written(to);
    });
  }

 protected:
  /// Returns the record of this type that was named at `position`.
  template <class Record>
  WARDEN_DEVICE Record const& read_at(unsigned position) {
    return at<Record>(position, position < named_.positions);
  }
  /// Returns the copy of the record of this type that was named at `position`.
  template <class Record>
  WARDEN_DEVICE Record& write_at(unsigned position) {
    return at<Record>(position, position < Most && (written_ >> position & 1) != 0);
  }
  /// Returns the rows that the section appends to the array with records of this type.
  template <class Record>
  [[nodiscard]] WARDEN_DEVICE appended_rows const& rows_of() const {
    static_assert(set::template is_growing<Record>(),
                  "warden: sections append rows to arrays that record_types calls growing");
    return rows_[set::template position_of<Record>()];
  }
  /// Returns appended row `k`, in the array.
  template <class Record>
  WARDEN_DEVICE Record& row_at(std::uint32_t k) {
    appended_rows const& rows = rows_of<Record>();
    bool const is_named = k < rows.count;
    if (!is_named) is_misused_ = true;
    return is_named ? all_.template of<Record>().records[rows.place + k] : copy_of<Record>(Most);
  }

 private:
  /// Returns what the section uses at `position`. If that is not `right`, the section is refused;
  /// it then uses the last copy, which is never written back. Without branches, so that the loads
  /// of several records overlap.
  template <class Record>
  WARDEN_DEVICE Record& at(unsigned position, bool right) {
    if constexpr (set::count != 1) {
      auto const& array = all_.template of<Record>();
      bool const is_of_array = right && ids_[named_.slot_of(position)] - array.begin < array.size;
      right = is_of_array;  // mutation: several-array
    }
    if (!right) is_misused_ = true;
    void* const used = right ? used_[position] : copies_ + Most * copy_bytes;
    return *static_cast<Record*>(used);
  }
  /// Calls `f(array, slot)` for the accesses of a mask.
  template <class F>
  WARDEN_DEVICE void for_each(unsigned slots, F const& f) {
    if constexpr (set::count == 1) {
      WARDEN_UNROLL
      for (unsigned s = 0; s < Most; ++s) {
        if ((slots >> s & 1) != 0) f(all_.first, s);
      }
    } else {
      // The code for all arrays stands once, and not once for each access.
      WARDEN_NO_UNROLL
      for (; slots != 0; slots &= slots - 1) {
        auto const s = static_cast<unsigned>(simt::first_bit(slots));
        all_.with_record(ids_[s], [&](auto const& array) { f(array, s); });
      }
    }
  }
  template <class Record>
  [[nodiscard]] WARDEN_DEVICE Record& copy_of(unsigned slot) {
    return *reinterpret_cast<Record*>(copies_ + slot * copy_bytes);
  }
  set const& all_;
  named_accesses named_;
  std::uint32_t ids_[Most];
  void* places_[Most];    ///< [slot] the record
  void* used_[Most];      ///< [position] the record or its copy
  unsigned written_ = 0;  ///< bit p: the section may write at position p
  bool is_misused_ = false;
  appended_rows rows_[set::count];  ///< [array]; set for growing arrays only
  /// [slot] copies; the last one is used for accesses that were not named.
  alignas(alignment) std::byte copies_[(Most + 1) * copy_bytes];
};

}  // namespace detail

/// Records of a section, by the positions at which its member `access` named them. A section writes
/// to copies, which become the records if it commits. `Types` is the type of the records, or a
/// record_types for sections on several arrays.
template <class Types, unsigned Most>
class records : public detail::section_records<detail::array_set<Types>, Most> {
 public:
  using detail::section_records<detail::array_set<Types>, Most>::section_records;

  /// Returns the record named at `position`, with what the section has written so far. A position
  /// without a name refuses the section.
  WARDEN_DEVICE Types const& read(unsigned position) {
    return this->template read_at<Types>(position);
  }
  /// Returns the section's copy of the record named at `position`, to be changed. A position that
  /// `access` did not name as a write refuses the section.
  WARDEN_DEVICE Types& write(unsigned position) { return this->template write_at<Types>(position); }
};

/// Records of a section on several arrays, and the rows that it appends.
template <class... Types, unsigned Most>
class records<record_types<Types...>, Most>
    : public detail::section_records<detail::array_set<Types...>, Most> {
 public:
  using detail::section_records<detail::array_set<Types...>, Most>::section_records;

  /// Returns the record named at `position`, with what the section has written so far. A position
  /// that does not name a record of this type refuses the section.
  template <class Record>
  WARDEN_DEVICE Record const& read(unsigned position) {
    return this->template read_at<Record>(position);
  }
  /// Returns the section's copy of the record named at `position`, to be changed. A position that
  /// `access` did not name as a write, of a record of this type, refuses the section.
  template <class Record>
  WARDEN_DEVICE Record& write(unsigned position) {
    return this->template write_at<Record>(position);
  }
  /// Returns appended row `k`, in the array. The section must assign every member. If the section
  /// does not commit, the row becomes zero bytes. A row that `access` did not announce refuses the
  /// section.
  template <class Record>
  WARDEN_DEVICE Record& append(std::uint32_t k = 0) {
    return this->template row_at<Record>(k);
  }
  /// Returns the index in the array of the first row that the section appends to it.
  template <class Record>
  [[nodiscard]] WARDEN_DEVICE std::uint64_t place() const {
    return this->template rows_of<Record>().place;
  }
};

namespace detail {

/// Calls a section with its records, and with the context if it takes one.
template <class Section, class Records, class Context>
WARDEN_DEVICE outcome call_on_several(Section const& section, Records& mine,
                                      Context const& context) {
  if constexpr (requires { section(mine, context); }) {
    return section(mine, context);
  } else {
    return section(mine);
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
