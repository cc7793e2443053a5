// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded array as the workers of a deferred run see it: records by partition, and the log.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/error.hpp>
#include <warden/run_report.hpp>
#include <warden/section.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Policy of a run of sections. It does not combine, and its blocks are twice as large, because the
/// user's kernel takes none of their registers. Blocks that load rows are not: a multiprocessor
/// then has more blocks, and some load while others sort a window. With 256 threads instead of 512
/// they make 1.1 times as many steps of rows of 64 floats per second.
template <class Policy, class... Sections>
struct run_policy : Policy {
  /// Threads of a block that runs a log.
  static constexpr unsigned block_threads = (has_row<Sections> || ...) ? Policy::block_threads
                                            : Policy::block_threads > 512
                                                ? 1024
                                                : 2 * Policy::block_threads;
  /// Clients combine; few sections of a hot record are left.
  static constexpr bool combine_in_fused = false;
};

/// Policy whose records are at `Where`, which is not `automatic`.
template <class Policy, placement Where>
struct placed_policy : Policy {
  /// Memory that holds the records.
  static constexpr placement records = Where;
};

template <class Policy, class Record, class... Sections>
class run_ref_of_partials;

// Defined by warden/spread.cuh.
template <class Policy, class Record, class... Sections>
class log_sender;
/// Stands for the sender of runs whose sections send none.
struct sends_to_no_log {};

/// Sender for the sections of a run. If records are spread over ranks the sections go into a log.
template <class Policy, class Record, class... Sections>
using log_sender_of =
    std::conditional_t<is_spread<Policy> &&
                           (sending_section_of<Sections, Record, typename Policy::context> || ...),
                       log_sender<Policy, Record, Sections...>, sends_to_no_log>;

/// True if any section, or what it combines to, takes the id of its record.
template <class Policy, class Record, class... Sections>
inline constexpr bool takes_ids =
    ((takes_own_id<Sections, Record, typename Policy::context> ||
      takes_own_id<partial_of<Sections>, Record, typename Policy::context>) ||
     ...);

/// Device view of a guarded array for the workers of a deferred run, as guarded_ref is for the
/// servers of a launch. The stream orders everything, and one block runs all sections of a record,
/// so there are no answers, no fences and no other launch to wait for.
template <class Policy, class Record, class... Sections>
class run_ref : public run_array<Record>,
                public run_window,
                public numbers_of<Policy, takes_ids<Policy, Record, Sections...>>::own,
                public log_sender_of<Policy, Record, Sections...> {
 public:
  /// Numbers of the records.
  using numbers = typename numbers_of<Policy, takes_ids<Policy, Record, Sections...>>::own;
  /// Policy that the guarded array was tuned by.
  using policy = run_policy<Policy, Sections...>;
  /// Type of one protected item.
  using record = Record;
  /// Type of the read-only object that every section gets in addition to its record.
  using context = typename Policy::context;
  /// Formats of the messages in the log.
  using formats =
      log_formats<log_form_of<Policy, Record, Sections...>, sent<Sections, Record, context>...>;
  /// Section type of a guarded array with one type; otherwise the first one.
  using section = typename formats::section;
  /// Executor of the sections.
  using executor = typename detail::chosen_executor<typename Policy::executor, Record, context,
                                                    Sections...>::type;
  /// Format of the messages in the log.
  using format = typename formats::format;
  /// Device view for the wide partials; this type if there are none.
  using partials = std::conditional_t<formats::two_widths,
                                      run_ref_of_partials<Policy, Record, Sections...>, run_ref>;
  /// A message with room for the largest section.
  using message_type = typename format::message_type;
  /// Message as it is sent, also in the view for wide partials.
  using sent_message = message_type;
  /// The log.
  using log_type = section_log<sent_message>;
  using answers = no_answer;                     ///< no section answers
  using reply_type = no_answer;                  ///< no section answers
  static constexpr bool sends_sections = false;  ///< such sections are not deferred
  static constexpr bool has_answers = false;     ///< see `reply_type`
  static constexpr bool fences = false;          ///< see the class comment
  /// True if warps combine the remaining sections of a hot record.
  static constexpr bool combines_segments = combines_in_log<Policy, Record, Sections...>;
  /// True if any of the sections is on two records: the log then runs in rounds.
  static constexpr bool has_pairs = (pair_section_of<Sections, Record, context> || ...);
  /// Number of lanes that run a section together: the largest of all types.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  /// Size of a lane's part of a row, at most. Units: bytes.
  static constexpr std::size_t row_bytes = std::max({row_part_bytes<Sections>...});
  /// True if any of the section types has `is_noop`.
  static constexpr bool filters_noops = combines_segments
                                            ? has_is_noop<section, Record, context>
                                            : (has_is_noop<Sections, Record, context> || ...);
  /// True if sections on one record run in the order in which they were sent.
  static constexpr bool in_order = Policy::order::in_order;
  /// True if each section can be run as one atomic.
  static constexpr bool all_atomic = combines_segments
                                         ? has_atomic<section, Record, context>
                                         : (has_atomic<Sections, Record, context> && ...);
  /// True if the ids of records are not their places, and sections need the map.
  static constexpr bool maps_ids = is_spread<Policy> && takes_ids<Policy, Record, Sections...>;
  /// True if the trace of a run tells the hottest record of a partition. It is not known if no-op
  /// sections are left out before the sort, or if lanes run a section together: after a vote by one
  /// thread, the code of groups met an illegal instruction on compute capability 9.0.
  static constexpr bool traces_segments = group_size == 1 && (!filters_noops || in_order);
  /// Facts about the sections, for advice.
  static constexpr section_facts facts{
      sizeof...(Sections) == 1 &&
          ((combining<partial_of<Sections>> && declines_combining<Sections>)&&...),
      combines_segments, all_atomic, in_order};

  context sections_context{};         ///< context of every section
  log_type log{};                     ///< log that is run
  partition_trace* traces = nullptr;  ///< [partition] trace of the run; null if there is none

  /// Returns the id of the record with a partition's local number.
  WARDEN_DEVICE record_id id_of(std::uint32_t partition, std::uint32_t local) const {
    return numbers::id_of(this->owners.id({partition, local}));
  }

  /// Waits for `predicate`, which a section of this block makes true when it ends: a run waits only
  /// for the block's locks.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind, std::uint32_t,
                                std::uint64_t) const {
    return simt::wait_until(
        predicate, [] { return true; }, watch);
  }

  /// Returns the counter of the partitions that blocks have taken to run.
  WARDEN_DEVICE std::uint32_t* next_partition() const { return &log.control->next_partition; }

  /// Takes the records for a run. Returns false if the run is put off, and counts that. One thread.
  WARDEN_DEVICE bool take_records() const {
    if (this->take()) return true;
    if (this->has_failed()) {
      this->report->note_skipped(&guarded_report::runs_skipped, this->health->cause());
    } else {
      simt::fetch_add(&this->report->runs_put_off, std::uint64_t{1});
    }
    return false;
  }
  /// Frees the records. Counts a launch that began during the run, if sections have run.
  /// Precondition: the caller has fenced (release). One thread.
  WARDEN_DEVICE void free_records(bool have_run) const {
    if (!this->free() && have_run) simt::fetch_add(&this->report->launches_amid, std::uint64_t{1});
  }
};

/// Device view of the same guarded array for the workers of its wide messages.
template <class Policy, class Record, class... Sections>
class run_ref_of_partials : public run_ref<Policy, Record, Sections...> {
  using base = run_ref<Policy, Record, Sections...>;

 public:
  using section = typename base::formats::partial;     ///< see run_ref
  using format = typename base::formats::wide_format;  ///< see run_ref
  using message_type = typename format::message_type;  ///< see run_ref
  /// True if each wide partial can be run as one atomic.
  static constexpr bool all_atomic = has_atomic<section, Record, typename base::context>;
  /// True if a wide partial has `is_noop`.
  static constexpr bool filters_noops = has_is_noop<section, Record, typename base::context>;
  static constexpr bool traces_segments = !filters_noops;  ///< see run_ref

  /// Returns the counter of the partitions whose wide messages blocks have taken to run.
  WARDEN_DEVICE std::uint32_t* next_partition() const { return &this->log.control->next_of_wide; }

  /// Makes the view of no log.
  run_ref_of_partials() = default;
  /// Makes the view of the records and log of `ref`.
  WARDEN_HOST_DEVICE run_ref_of_partials(base const& ref) : base{ref} {}
};

}  // namespace detail
WARDEN_NAMESPACE_END
