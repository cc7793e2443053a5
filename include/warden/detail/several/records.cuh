// SPDX-License-Identifier: Apache-2.0
/// @file
/// The records that a section on several records is given.
#pragma once

#include <warden/detail/several/access_list.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Result of a section on several records.
enum class outcome : unsigned char {
  commit,   ///< the copies that the section wrote become the records
  abort,    ///< all records are unchanged
  refused,  ///< an access was wrong, which `wait` reports; all records are unchanged
  not_run,  ///< the section did not run, which `wait` reports; all records are unchanged
};

/// Records of a section, by the positions at which its member `access` named them. A section writes
/// to copies, which become the records if it commits. Lives in the call of the section.
template <class Record, unsigned Most>
class records {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  /// Constructs the records `ids` of `all`. Copies those that the section writes.
  WARDEN_DEVICE records(Record* all, std::uint32_t const (&ids)[Most],
                        detail::named_accesses const& named)
      : all_{all}, named_{named} {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      // `read` indexes this copy, so the caller's ids stay in registers.
      ids_[s] = ids[s];
      if (s < named.count && named.writes_to(s)) memcpy(&copy(s), &all[ids[s]], sizeof(Record));
    }
  }
  records(records const&) = delete;
  records& operator=(records const&) = delete;

  /// Returns the record named at `position`, with what the section has written so far. A position
  /// without a name refuses the section.
  WARDEN_DEVICE Record const& read(unsigned position) {
    if (position >= named_.positions) return any();
    unsigned const slot = named_.slot_of(position);
    return named_.writes_to(slot) ? copy(slot) : all_[ids_[slot]];
  }
  /// Returns the section's copy of the record named at `position`, to be changed. A position that
  /// `access` did not name as a write refuses the section.
  WARDEN_DEVICE Record& write(unsigned position) {
    if (position >= named_.positions) return any();
    unsigned const slot = named_.slot_of(position);
    return named_.writes_to(slot) ? copy(slot) : any();
  }

  /// True if the section used a record that it had not named.
  [[nodiscard]] WARDEN_DEVICE bool is_misused() const { return is_misused_; }
  /// Writes the copies back. Calls `written(record)` after each.
  template <class Written>
  WARDEN_DEVICE void commit(Written const& written) {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count || !named_.writes_to(s)) continue;
      Record* const to = &all_[ids_[s]];
      memcpy(to, &copy(s), sizeof(Record));
      written(to);
    }
  }

 private:
  [[nodiscard]] WARDEN_DEVICE Record& copy(unsigned slot) {
    return *reinterpret_cast<Record*>(copies_ + slot * sizeof(Record));
  }
  /// Returns a record of zero bytes. It is never written back, because the section is refused.
  WARDEN_DEVICE Record& any() {
    is_misused_ = true;
    memset(&copy(0), 0, sizeof(Record));
    return copy(0);
  }

  Record* all_;
  detail::named_accesses named_;
  std::uint32_t ids_[Most];
  bool is_misused_ = false;
  alignas(Record) std::byte copies_[Most * sizeof(Record)];
};

WARDEN_NAMESPACE_END
