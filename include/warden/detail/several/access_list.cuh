// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records that a section on several records names before it runs.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Reason for which a section does not run.
enum class refusal : std::uint32_t {
  none,
  bad_id,    ///< it names an id outside the records
  too_many,  ///< it names too many records
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

}  // namespace detail

/// Takes the records that a section names in its member `access`, at most `Most` of them. The n-th
/// call names the record at position n, counted from 0. A record that is named several times is one
/// access, which is a write if any of these calls is `write`.
template <unsigned Most>
class access_list {
  static_assert(Most >= 1 && Most <= 16,
                "warden: a section on several records names 1 to 16 records");

 public:
  /// Names a record that the section reads.
  WARDEN_DEVICE void read(std::uint32_t id) { add(id, 0); }
  /// Names a record that the section reads and writes.
  WARDEN_DEVICE void write(std::uint32_t id) { add(id, 1); }

  /// Number of calls of `read` and `write`.
  [[nodiscard]] WARDEN_DEVICE unsigned calls() const { return calls_; }
  /// Returns the accesses. Precondition: at most `Most` calls were made.
  [[nodiscard]] WARDEN_DEVICE detail::named_accesses named() const {
    return {slots_, static_cast<std::uint16_t>(writes_), static_cast<std::uint8_t>(calls_),
            static_cast<std::uint8_t>(count_), detail::refusal::none};
  }
  /// Returns the record of an access. Precondition: the access exists.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t id(unsigned slot) const { return ids_[slot]; }

 private:
  WARDEN_DEVICE void add(std::uint32_t id, unsigned is_write) {
    unsigned const position = calls_++;
    if (position >= Most) return;
    unsigned slot = count_;
    // Constant indexes keep the ids in registers.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s < count_ && ids_[s] == id) slot = s;  // mutation: several-twice
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s == slot) ids_[s] = id;
    }
    if (slot == count_) ++count_;
    writes_ |= is_write << slot;  // mutation: several-upgrade
    slots_ |= std::uint64_t{slot} << 4 * position;
  }

  std::uint32_t ids_[Most];
  std::uint64_t slots_ = 0;
  unsigned writes_ = 0, calls_ = 0, count_ = 0;
};

WARDEN_NAMESPACE_END
