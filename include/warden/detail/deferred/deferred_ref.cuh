// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a kernel that defers sections is handed: the log, and which ids are records.
#pragma once

#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// What all such refs have: a log, and who is told of what it refuses. Sections are written into it
/// as `Formats` says, a log_formats.
template <class Formats, bool InOrder>
class log_ref {
 public:
  /// How sections are written into the log.
  using formats = Formats;
  /// What lies there.
  using message_type = typename formats::message_type;
  /// The log.
  using log_type = detail::section_log<message_type>;
  /// Whether sections on one record run in the order in which they are sent.
  static constexpr bool in_order = InOrder;

  // Filled by the host.
  log_type log{};                            ///< where messages go
  detail::guarded_report* report = nullptr;  ///< the guarded's

  /// The message of a section on two records: it goes to the part of the first one.
  template <class Section>
  WARDEN_DEVICE static message_type pair(std::uint64_t first, std::uint64_t second,
                                         Section const& section) {
    auto const other = static_cast<std::uint32_t>(second);
    return formats::pack(static_cast<std::uint32_t>(first),
                         detail::paired<Section>{detail::prefixed<Section>::of(section, other)});
  }
  /// Counts sections that found no place.
  WARDEN_DEVICE void refuse(std::uint32_t count) const {
    simt::fetch_add(&report->refused, std::uint64_t{count});
    simt::store_relaxed(&report->refused_by, std::uint64_t{log.size});
    // Other threads take rows.
    if (in_order && simt::load_relaxed(&log.control->rows) > log.rows)
      simt::store_relaxed(&report->batches_at_most, std::uint64_t{log.rows});
  }

 protected:
  /// Logs a message. False if it found no place, which is counted.
  WARDEN_DEVICE bool put(message_type const& message) const {
    // Lanes that are together take their places together.
    unsigned const home =
        (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / simt::warp_size;
    if (log.put(home, message)) return true;
    refuse(1);
    return false;
  }
};

/// A guarded array's log as kernels that send see it. Trivially copyable: a kernel's parameter by
/// value. Made by `deferred::ref`.
template <class Policy, class Record, class... Sections>
class deferred_ref
    : public log_ref<
          detail::log_formats<Policy::combines,
                              detail::sent<Sections, Record, typename Policy::context>...>,
          Policy::order::in_order>,
      public detail::numbers_of<Policy>::sent {
 public:
  using deferred_ref::log_ref::in_order;
  using typename deferred_ref::log_ref::formats;
  /// Whether a block combines sections on records that repeat in its batch.
  static constexpr bool combines = Policy::combines;

  std::uint64_t size = 0;  ///< records, filled by the host

  /// Logs the section for record `id`: it runs exactly once, in the next `run` of the log. Any
  /// thread, in any control flow; nothing waits. False if the log is full or just being run, which
  /// is counted and reported by the guarded array's `wait`; so is an id outside the records, which
  /// is not logged.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section) const {
    static_assert(!in_order || !std::is_same_v<Section, Section>,
                  "warden: with order::sequential sections are sent by a deferred_block: the order "
                  "of threads that send by themselves is nobody's");
    if (!check(id)) return true;
    return this->put(formats::pack(this->number(id), section));
  }
  /// Logs a section on the records `first` and `second`, which may be one, for a run in rounds.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section) const {
    if (!check(first, second)) return true;
    return this->put(this->pair(first, second, section));
  }
  /// Nothing answers while the log is written.
  template <class Section>
  void call(std::uint64_t, Section const&) const {
    static_assert(!std::is_same_v<Section, Section>,
                  "warden: a deferred section runs after the kernel, so no thread can wait for its "
                  "answer: let it write the answer through its context, or use launch_fused");
  }

  /// Counts a bad id, keeps the first one; true if `id` names a record.
  WARDEN_DEVICE bool check(std::uint64_t id) const { return this->report->check(id, size); }
  /// The same of the ids of two records.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    return check(first) && check(second);
  }
};

WARDEN_NAMESPACE_END
