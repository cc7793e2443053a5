// SPDX-License-Identifier: Apache-2.0
/// @file
/// Argument of a kernel that defers sections: the log, and the range of record ids.
#pragma once

#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/read_unordered.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Common part of such refs: a log, and the report that counts refused sections. Sections are
/// written as `Formats`, a log_formats, says.
template <class Formats, bool InOrder>
class log_ref {
 public:
  /// Formats of sections in the log.
  using formats = Formats;
  /// Message of the log.
  using message_type = typename formats::message_type;
  /// Type of the log.
  using log_type = detail::section_log<message_type>;
  /// True if sections on one record run in the order in which they are sent.
  static constexpr bool in_order = InOrder;

  // Filled by the host.
  log_type log{};                            ///< log that messages go to
  detail::guarded_report* report = nullptr;  ///< report of the guarded array

  /// Returns the message of a section on two records. It goes to the partition of the first one.
  template <class Section>
  WARDEN_DEVICE static message_type pair(std::uint64_t first, std::uint64_t second,
                                         Section const& section) {
    auto const other = static_cast<std::uint32_t>(second);
    return formats::pack(static_cast<std::uint32_t>(first),
                         detail::paired<Section>{detail::prefixed<Section>::of(section, other)});
  }
  /// Notes that the element `row` of a loop has an id outside the records.
  WARDEN_DEVICE void note_bad_row(std::uint64_t row) const { report->note_bad_row(row); }
  /// Counts sections that found no place.
  WARDEN_DEVICE void refuse(std::uint64_t count) const {
    simt::fetch_add(&report->refused, count);
    simt::store_relaxed(&report->refused_by, std::uint64_t{log.size});
    // Other threads take rows at the same time.
    if (in_order && simt::load_relaxed(&log.control->rows) > log.rows)
      simt::store_relaxed(&report->batches_at_most, std::uint64_t{log.rows});
  }

 protected:
  /// Logs a message. Returns false if there is no place, and counts that.
  WARDEN_DEVICE bool put(message_type const& message) const {
    // Lanes that are converged take their places together.
    unsigned const home =
        (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / simt::warp_size;
    if (log.put(home, message)) return true;
    refuse(1);
    return false;
  }
};

/// A guarded array's log, as the kernels that send see it. Trivially copyable; passed to a kernel
/// by value. `deferred::ref` makes it.
template <class Policy, class Record, class... Sections>
class deferred_ref
    : public log_ref<
          detail::log_formats<detail::log_form_of<Policy, Record, Sections...>,
                              detail::sent<Sections, Record, typename Policy::context>...>,
          Policy::order::in_order>,
      public detail::numbers_of<Policy, false>::sent {
 public:
  using deferred_ref::log_ref::in_order;
  using typename deferred_ref::log_ref::formats;
  /// True if a block combines the sections for records that repeat in its batch.
  static constexpr bool combines = detail::combines_in_log<Policy, Record, Sections...>;

  // Filled by the host.
  std::uint64_t size = 0;           ///< records
  Record const* records = nullptr;  ///< [size] records in global memory; null if they are spread

  /// Logs the section for record `id`: it runs exactly once, in the next `run` of the log. For any
  /// thread, in any control flow; never waits. Returns false if the log is full or being run; the
  /// guarded array's `wait` reports that. An id outside the records is not logged, and is reported,
  /// too.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section) const {
    static_assert(!in_order || !std::is_same_v<Section, Section>,
                  "warden: with order::sequential and order::deterministic sections are sent by a "
                  "deferred_block, because threads that send by themselves have no order");
    if (!check(id)) return true;
    return this->put(formats::pack(this->number(id), section));
  }
  /// Logs a section on the records `first` and `second`, which may be the same, for a run in
  /// rounds.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section) const {
    if (!check(first, second)) return true;
    return this->put(this->pair(first, second, section));
  }
  /// Logs the section as `send` does, but only if `test(record)` is true now. For sections that
  /// most often change nothing. Precondition: if `test` is false for a record, it would be false
  /// forever, whatever sections run. Runs of other logs may change the record at the same time: see
  /// `should_send`. Returns what `send` returns, and true for a section that is not sent.
  template <class Section, class Test>
  WARDEN_DEVICE bool send_if(std::uint64_t id, Section const& section, Test const& test) const {
    return !should_send(id, test) || send(id, section);
  }
  /// True if `test(record)` is true, or `id` names no record. `test` gets a copy of the record in
  /// global memory. Each of its members of 4 or 8 bytes that is aligned to its size was read as a
  /// whole, and is as old as the last run before the kernel, or newer. Members may be of different
  /// times.
  template <class Test>
  WARDEN_DEVICE bool should_send(std::uint64_t id, Test const& test) const {
    static_assert(!detail::is_spread<Policy> || !std::is_same_v<Test, Test>,
                  "warden: send_if reads the record, which another rank may have: let the section "
                  "have an is_noop");
    return id >= size || test(detail::read_unordered(records + id));
  }
  /// Fails to compile: a deferred section has no answer while the log is written.
  template <class Section>
  void call(std::uint64_t, Section const&) const {
    static_assert(!std::is_same_v<Section, Section>,
                  "warden: a deferred section runs after the kernel, so no thread can wait for its "
                  "answer: let it write the answer through its context, or use launch_fused");
  }

  /// True if `id` names a record. Counts a bad id, and keeps the first one.
  WARDEN_DEVICE bool check(std::uint64_t id) const { return this->report->check(id, size); }
  /// True if both ids name records. Counts bad ids, and keeps the first one.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    return check(first) && check(second);
  }
};

WARDEN_NAMESPACE_END
