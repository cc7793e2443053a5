// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records that a section on several records names before it runs.
#pragma once

#include <warden/detail/several/section_arrays.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Reason for which a section does not run.
enum class refusal : std::uint32_t {
  none,
  bad_id,    ///< it names an id outside the records
  too_many,  ///< it names too many records
  rows,      ///< it appends too many rows
};

/// Accesses of one section, in device memory. An access is a record that the section names, once or
/// several times.
struct named_accesses {
  std::uint64_t slots;     ///< [position] number of its access, 4 bits each
  std::uint16_t writes;    ///< bit s: access s is a write
  std::uint8_t positions;  ///< number of calls of `read` and `write`
  std::uint8_t count;      ///< number of accesses; 0 for a refused section
  refusal refused_for;     ///< not `none` if a name is wrong: the section does not run

  /// Returns the number of the access that was named at `position`.
  [[nodiscard]] WARDEN_DEVICE unsigned slot_of(unsigned position) const {
    return static_cast<unsigned>(slots >> 4 * position) & 15u;  // mutation: several-slot
  }
  /// True if the access is a write.
  [[nodiscard]] WARDEN_DEVICE bool writes_to(unsigned slot) const {
    return (writes >> slot & 1) != 0;
  }
};

/// How a list finds out which names are of one record.
enum class same_record {
  by_id,   ///< names with one id
  never,   ///< it is known that all records differ
  always,  ///< it is known that all names are of one record
};

/// Names of records: array and id.
template <unsigned Most>
class access_names {
  static_assert(Most >= 1 && Most <= 16,
                "warden: a section on several records names 1 to 16 records");

 public:
  /// Number of calls of `read` and `write`.
  [[nodiscard]] WARDEN_DEVICE unsigned calls() const { return calls_; }
  /// Returns the accesses. Precondition: at most `Most` calls were made.
  [[nodiscard]] WARDEN_DEVICE named_accesses named() const {
    return {slots_, static_cast<std::uint16_t>(writes_), static_cast<std::uint8_t>(calls_),
            static_cast<std::uint8_t>(count_), refusal::none};
  }
  /// Returns the id of an access. Precondition: the access exists.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(unsigned slot) const { return ids_[slot]; }
  /// Returns the position of the access's array. Precondition: the access exists.
  [[nodiscard]] WARDEN_DEVICE unsigned array(unsigned slot) const {
    return static_cast<unsigned>(arrays_ >> 4 * slot) & 15u;
  }

 protected:
  /// Names a record of the array at this position.
  WARDEN_DEVICE void add(unsigned array_position, std::uint32_t id, unsigned is_write) {
    unsigned const position = calls_++;
    if (position >= Most) return;
    unsigned slot = count_;
    if (same_ != same_record::by_id) id = same_ == same_record::always ? 0 : position;
    // Constant indexes keep the ids in registers.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      bool const is_same = ids_[s] == id && array(s) == array_position;
      if (s < count_ && is_same) slot = s;  // mutation: several-twice
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s == slot) ids_[s] = id;
    }
    if (slot == count_) {
      arrays_ |= std::uint64_t{array_position} << 4 * slot;
      ++count_;
    }
    writes_ |= is_write << slot;  // mutation: several-upgrade
    slots_ |= std::uint64_t{slot} << 4 * position;
  }

  same_record same_ = same_record::by_id;

 private:
  std::uint32_t ids_[Most];
  std::uint64_t slots_ = 0, arrays_ = 0;
  unsigned writes_ = 0, calls_ = 0, count_ = 0;
};

}  // namespace detail

/// Takes the records that a section names in its member `access`, at most `Most` of them. The n-th
/// call names the record at position n, counted from 0. A record that is named several times is one
/// access, which is a write if any of these calls is `write`. `Types` is a record_types for
/// sections on several arrays, and void otherwise.
template <unsigned Most, class Types = void>
class access_list : public detail::access_names<Most> {
 public:
  /// Names a record that the section reads.
  WARDEN_DEVICE void read(std::uint32_t id) { this->add(0, id, 0); }
  /// Names a record that the section reads and writes.
  WARDEN_DEVICE void write(std::uint32_t id) { this->add(0, id, 1); }
};

/// Takes the records that a section names in several arrays. Each array is named by its type of
/// records.
template <unsigned Most, class... Types>
class access_list<Most, record_types<Types...>> : public detail::access_names<Most> {
  using arrays = detail::array_set<Types...>;
  static_assert(sizeof...(Types) >= 1 && sizeof...(Types) <= 16,
                "warden: record_types names 1 to 16 types of records");
  static_assert(arrays::all_differ(), "warden: record_types names each type of records once");

 public:
  /// Names a record that the section reads.
  template <class Record>
  WARDEN_DEVICE void read(std::uint32_t id) {
    this->add(arrays::template position_of<Record>(), id, 0);
  }
  /// Names a record that the section reads and writes.
  template <class Record>
  WARDEN_DEVICE void write(std::uint32_t id) {
    this->add(arrays::template position_of<Record>(), id, 1);
  }
  /// Says that the section appends `n` further rows to a growing array. The rows of a section
  /// follow one another there.
  template <class Record>
  WARDEN_DEVICE void append(std::uint32_t n = 1) {
    static_assert(arrays::template is_growing<Record>(),
                  "warden: sections append rows to arrays that record_types calls growing");
    constexpr std::uint32_t most = detail::growing_rows::most;
    std::uint32_t& rows = rows_[arrays::template position_of<Record>()];
    // Beyond the limit the number does not matter, but it must not wrap.
    rows = rows > most || n > most ? most + 1 : rows + n;
  }
  /// Returns the rows that the section appends to the array at this position.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t rows(unsigned array_position) const {
    return rows_[array_position];
  }

 private:
  std::uint32_t rows_[sizeof...(Types)] = {};
};

namespace detail {

/// List for a section of which it is known which names are of one record. Ids are not read.
template <unsigned Most>
class known_names : public access_list<Most> {
 public:
  WARDEN_DEVICE explicit known_names(same_record same) { this->same_ = same; }
};

/// List that the section of arrays with these types takes.
template <unsigned Most, class Types>
struct access_list_of {
  using type = access_list<Most>;
};
template <unsigned Most, class... Types>
struct access_list_of<Most, record_types<Types...>> {
  using type = access_list<Most, record_types<Types...>>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
