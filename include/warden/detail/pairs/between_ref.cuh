// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel argument for sections between the records of two guarded arrays: the log and the sizes of
/// both arrays.
#pragma once

#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// A log between two guarded arrays as sending kernels see it. Trivially copyable: a kernel's
/// parameter by value. Made by `deferred_between::ref`.
template <class... Sections>
class between_ref
    : public log_ref<detail::log_formats<detail::log_form::plain, detail::paired<Sections>...>,
                     false> {
 public:
  /// False: clients do not combine.
  static constexpr bool combines = false;

  // Filled by the host.
  std::uint64_t first_size = 0;                     ///< records of the first guarded array
  std::uint64_t second_size = 0;                    ///< records of the second guarded array
  detail::guarded_report* second_report = nullptr;  ///< report of the second guarded array

  /// Logs the section for the record `first` of the first guarded array and the record `second` of
  /// the second. It runs exactly once, in the next `run` of the log. May be called by any thread,
  /// in any control flow; never waits. Returns false if the log is full or being run, which is
  /// counted and reported by the first guarded array's `wait`. An id outside the records is not
  /// logged. The `wait` of the guarded array without that record reports it.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section) const {
    if (!check(first, second)) return true;
    return this->put(this->pair(first, second, section));
  }
  /// Rejects sections on one record: they are for the guarded arrays' own logs.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t, Section const&) const {
    static_assert(
        !std::is_same_v<Section, Section>,
        "warden: a section between two guarded arrays is sent to a record of each: sections on "
        "one record are for the guarded array's own log");
    return false;
  }

  /// Returns true if both ids are records. Otherwise counts the bad ids, and keeps the first one of
  /// each guarded array.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    bool const is_first = this->report->check(first, first_size);
    return second_report->check(second, second_size) && is_first;
  }
  /// Notes that the element `row` of a loop has an id outside the records of either array: a report
  /// without bad ids ignores it.
  WARDEN_DEVICE void note_bad_row(std::uint64_t row) const {
    this->report->note_bad_row(row);
    second_report->note_bad_row(row);
  }
};

WARDEN_NAMESPACE_END
