// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records of a section on one array, if they are small enough for a thread's registers.
#pragma once

#include <warden/detail/execute/record_copy.cuh>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Largest total size of records of which a thread copies all, also those that the section only
/// reads. Units: bytes.
inline constexpr std::size_t most_small_bytes = 256;

/// True if a thread has copies of all records of a section.
template <class Set, unsigned Most>
inline constexpr bool has_small_records = false;
template <class Type, unsigned Most>
inline constexpr bool has_small_records<array_set<Type>, Most> =
    !array_type<Type>::grows && Most != 2 &&
    std::is_copy_assignable_v<typename array_type<Type>::record> &&
    Most * sizeof(typename array_type<Type>::record) <= most_small_bytes;

// Defined by warden/detail/several/records.cuh.
template <class Set, unsigned Most>
class section_records;

/// Copies of all records of a section. A constant position means a constant copy, unless the
/// section named a record twice: so the compiler keeps the copies in registers.
template <class Type, unsigned Most>
requires(has_small_records<array_set<Type>, Most>) class section_records<array_set<Type>, Most> {
  using record = typename array_type<Type>::record;

 public:
  /// Bytes of each copy.
  static constexpr std::size_t copy_bytes = sizeof(record);
  /// Copies of the records, by access. Those of other places are zeros.
  using copies = record_copy<record>[Most];

  /// Takes copies of the records. `is_plain` says that each access was named once, so that its
  /// number is the position; a caller that gives a constant saves the search.
  WARDEN_DEVICE section_records(named_accesses const& named, bool is_plain, copies const& all)
      : named_{named}, is_plain_{is_plain} {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) copies_[s] = all[s];
  }
  section_records(section_records const&) = delete;
  section_records& operator=(section_records const&) = delete;

  /// True if the section used a record that it had not named.
  [[nodiscard]] WARDEN_DEVICE bool is_misused() const {
    return (used_ >> named_.positions) != 0 || (written_ & ~unsigned{named_.writes}) != 0;
  }
  /// Hands the copies back.
  WARDEN_DEVICE void give_to(copies& all) const {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) all[s] = copies_[s];
  }

 protected:
  /// Returns the copy of the record named at `position`.
  template <class Record>
  WARDEN_DEVICE Record const& read_at(unsigned position) {
    return copies_[slot_of(position)].value;
  }
  /// Returns the copy of the record named at `position`, to be changed.
  template <class Record>
  WARDEN_DEVICE Record& write_at(unsigned position) {
    unsigned const slot = slot_of(position);
    written_ |= 1u << slot;
    return copies_[slot].value;
  }

 private:
  /// Returns the access that was named at `position`, or a place of zeros. What was used is looked
  /// at after the section: after a misuse no copy is written back.
  WARDEN_DEVICE unsigned slot_of(unsigned position) {
    unsigned const inside = position < Most ? position : Most;
    used_ |= 1u << inside;
    if (is_plain_) return inside;
    return inside < named_.positions ? named_.slot_of(inside) : Most;
  }

  named_accesses named_;
  bool is_plain_;
  unsigned used_ = 0;     ///< bit p: the section used position p; Most: one beyond all
  unsigned written_ = 0;  ///< bit s: it may have written the copy of access s
  record_copy<record> copies_[Most + 1];  ///< [access]; the last one is zeros
};

}  // namespace detail
WARDEN_NAMESPACE_END
