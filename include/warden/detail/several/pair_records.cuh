// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records of a section on at most two records of one array, which may run in rounds.
#pragma once

#include <warden/detail/execute/record_copy.cuh>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

// Defined by warden/detail/several/records.cuh.
template <class Set, unsigned Most>
class section_records;
template <class Record>
WARDEN_DEVICE void copy_record(Record* to, Record const* from);

/// A position means an address. In rounds these are the addresses of local variables of the caller:
/// the variables are in registers then, because no address depends on a condition.
template <class Type>
requires(!array_type<Type>::grows) class section_records<array_set<Type>, 2> {
  using record = typename array_type<Type>::record;

 public:
  /// Bytes of each copy.
  static constexpr std::size_t copy_bytes = sizeof(record);

  /// Constructs the accesses to the records with the numbers `ids`. Before the section runs, each
  /// must have a place; then `use_copies` is called, and copies are made.
  WARDEN_DEVICE section_records(array_set<Type> const& all, std::uint32_t const (&ids)[2],
                                named_accesses const& named, std::uint32_t)
      : named_{named} {
    for (unsigned s = 0; s < named.count; ++s) own_[s] = all.first.at(ids[s]);
    for (unsigned p = 0; p <= most; ++p) read_[p] = written_[p] = &copies_[most].value;
  }
  /// Uses the caller's copy of the one record that the section names, and a record of zeros.
  WARDEN_DEVICE section_records(named_accesses const& named, record& zeros, record& copy)
      : named_{named},
        read_{&copy, named.positions > 1 ? &copy : &zeros, &zeros},
        written_{read_[0], read_[1], &zeros} {}
  /// Uses the caller's copies of the two records that the section names.
  WARDEN_DEVICE section_records(named_accesses const& named, record& zeros, record& first,
                                record& second)
      : named_{named}, read_{&first, &second, &zeros}, written_{&first, &second, &zeros} {}
  section_records(section_records const&) = delete;
  section_records& operator=(section_records const&) = delete;

  /// Says that the records of the accesses in a mask are in their arrays.
  WARDEN_DEVICE void place_in_arrays(unsigned slots) {
    for_each_position(slots, [&](unsigned p, unsigned s) { read_[p] = own_[s]; });
  }
  /// Says where the record of an access is, if it is not in its array.
  WARDEN_DEVICE void place_at(unsigned slot, std::byte* where) {
    own_[slot] = reinterpret_cast<record*>(where);
    place_in_arrays(1u << slot);
  }
  /// Says that the section uses copies of the accesses in a mask, which has all writes.
  WARDEN_DEVICE void use_copies(unsigned slots) {
    for_each_position(slots,
                      [&](unsigned p, unsigned s) { read_[p] = written_[p] = &copies_[s].value; });
  }
  /// Copies the records of the accesses in a mask.
  WARDEN_DEVICE void copy(unsigned slots) {
    for (unsigned s = 0; s < named_.count; ++s)
      if ((slots >> s & 1) != 0) copy_record(&copies_[s].value, own_[s]);
  }
  /// True if the section used a record that it had not named.
  [[nodiscard]] WARDEN_DEVICE bool is_misused() const { return is_misused_; }
  /// Writes the copies of the accesses in a mask back. Calls `written(record)` after each.
  template <class Written>
  WARDEN_DEVICE void commit(unsigned slots, Written const& written) {
    for (unsigned s = 0; s < named_.count; ++s) {
      if ((slots >> s & 1) == 0) continue;
      copy_record(own_[s], &copies_[s].value);
      written(own_[s]);
    }
  }

 protected:
  /// Returns the record named at `position`.
  template <class Record>
  WARDEN_DEVICE Record const& read_at(unsigned position) {
    if (position >= named_.positions) is_misused_ = true;
    return *read_[position < most ? position : most];
  }
  /// Returns the copy of the record named at `position`.
  template <class Record>
  WARDEN_DEVICE Record& write_at(unsigned position) {
    // After a misuse no copy is written back.
    if (position >= named_.positions || !named_.writes_to(named_.slot_of(position)))
      is_misused_ = true;
    return *written_[position < most ? position : most];
  }

 private:
  static constexpr unsigned most = 2;

  /// Calls `f(position, slot)` for the positions of the accesses in a mask.
  template <class F>
  WARDEN_DEVICE void for_each_position(unsigned slots, F const& f) const {
    for (unsigned p = 0; p < named_.positions; ++p) {
      unsigned const slot = named_.slot_of(p);
      if ((slots >> slot & 1) != 0) f(p, slot);
    }
  }

  named_accesses named_;
  record* own_[most];                     ///< [slot] the record
  record* read_[most + 1];                ///< [position] record or copy; zeros from `most` on
  record* written_[most + 1];             ///< [position] copy, or zeros
  record_copy<record> copies_[most + 1];  ///< [slot] copies, unless the caller has them, and zeros
  bool is_misused_ = false;
};

}  // namespace detail
WARDEN_NAMESPACE_END
