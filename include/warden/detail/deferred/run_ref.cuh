// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded array as the workers of a deferred run see it: records by partition, and the log.
#pragma once

#include <warden/detail/deferred/log_formats.cuh>
#include <warden/detail/deferred/log_sender.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/execute/wire_types.cuh>
#include <warden/diagnosis.hpp>
#include <warden/section.cuh>

#include <algorithm>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The policy, not combining, with blocks twice as large: the user's code takes none of their
/// registers.
template <class Policy>
struct run_policy : Policy {
  /// Threads of a block that runs a log.
  static constexpr unsigned block_threads =
      Policy::block_threads > 512 ? 1024 : 2 * Policy::block_threads;
  /// Clients combine; what is left of a hot record is few.
  static constexpr bool combines = false;
};

template <class Policy, class Record, class... Sections>
class run_ref_of_partials;

/// What sections of a run send others by: where their records are spread over ranks they go into a
/// log, as any section does.
template <class Policy, class Record, class... Sections>
using log_sender_of =
    std::conditional_t<is_spread<Policy> &&
                           (sending_section_of<Sections, Record, typename Policy::context> || ...),
                       log_sender<Policy, Record, Sections...>, sends_to_no_log>;

/// A guarded array as the workers of a deferred run see it. What guarded_ref is to the servers of a
/// launch. The stream orders everything, and one block runs all sections of a record: there are no
/// answers, no fences and no other launch to wait for.
template <class Policy, class Record, class... Sections>
class run_ref : public run_array<Record>,
                public run_window,
                public detail::numbers_of<Policy>::own,
                public log_sender_of<Policy, Record, Sections...> {
 public:
  /// What the guarded array was tuned by.
  using policy = run_policy<Policy>;
  /// The type of one protected item.
  using record = Record;
  /// What every section is handed beside its record.
  using context = typename Policy::context;
  /// What lies in the log.
  using formats = log_formats<Policy::combines, sent<Sections, Record, context>...>;
  /// The section, where a guarded array has one type alone; the first otherwise.
  using section = typename formats::section;
  /// How sections are run.
  using executor = typename detail::chosen_executor<typename Policy::executor, Record, context,
                                                    Sections...>::type;
  /// How sections are written into the log.
  using format = typename formats::format;
  /// The same for what they were combined to, where that is wider; this type otherwise.
  using partials = std::conditional_t<formats::two_widths,
                                      run_ref_of_partials<Policy, Record, Sections...>, run_ref>;
  /// A message with room for the largest section.
  using message_type = typename format::message_type;
  /// The same as it is sent, also where `message_type` is that of partials.
  using sent_message = message_type;
  /// The log.
  using log_type = section_log<sent_message>;
  using answers = no_answer;                     ///< nobody asks
  using reply_type = no_answer;                  ///< nothing is said
  static constexpr bool sends_sections = false;  ///< not deferred
  static constexpr bool has_answers = false;     ///< see `reply_type`
  static constexpr bool fences = false;          ///< see above
  /// Whether warps combine what is left of a hot record's sections.
  static constexpr bool combines_segments = Policy::combines;
  /// Whether any of the sections is on two records: then the log is run in rounds.
  static constexpr bool has_pairs = (pair_section_of<Sections, Record, context> || ...);
  /// Lanes that run a section together: the most of any.
  static constexpr unsigned group_size = std::max({group_size_of<Sections>...});
  /// Whether any of the sections says when it would change nothing.
  static constexpr bool filters_noops = (has_is_noop<Sections, Record, context> || ...);
  /// Whether sections on one record run in the order in which they were sent.
  static constexpr bool in_order = Policy::order::in_order;
  /// Whether all sections can be run as one atomic each.
  static constexpr bool all_atomic = Policy::combines
                                         ? has_atomic<section, Record, context>
                                         : (has_atomic<Sections, Record, context> && ...);

  context sections_context{};  ///< handed to every section
  log_type log{};              ///< what is run

  /// Waits for `predicate`, which a section of this block that ends brings about: the only waits
  /// are those for the block's locks.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind, std::uint32_t,
                                std::uint64_t) const {
    return simt::wait_until(
        predicate, [] { return true; }, watch);
  }

  /// The counter of the partitions that blocks have taken to run.
  WARDEN_DEVICE std::uint32_t* next_partition() const { return &log.control->next_partition; }

  /// Takes the records for a run, or counts that it is put off: false then. One thread.
  WARDEN_DEVICE bool take_records() const {
    if (this->take()) return true;
    if (this->has_failed()) {
      this->report->note_skipped(&guarded_report::runs_skipped, this->health->cause());
    } else {
      simt::fetch_add(&this->report->runs_put_off, std::uint64_t{1});
    }
    return false;
  }
  /// Frees them, behind a release. Counts a launch that came amid, if sections have run. One
  /// thread.
  WARDEN_DEVICE void free_records(bool have_run) const {
    if (!this->free() && have_run) simt::fetch_add(&this->report->launches_amid, std::uint64_t{1});
  }
};

/// The same guarded array as the workers of its wide messages see it.
template <class Policy, class Record, class... Sections>
class run_ref_of_partials : public run_ref<Policy, Record, Sections...> {
  using base = run_ref<Policy, Record, Sections...>;

 public:
  using section = typename base::formats::partial;     ///< see run_ref
  using format = typename base::formats::wide_format;  ///< see run_ref
  using message_type = typename format::message_type;  ///< see run_ref
  /// Whether they can be run as one atomic each.
  static constexpr bool all_atomic = has_atomic<section, Record, typename base::context>;

  /// The counter of the partitions whose wide messages blocks have taken to run.
  WARDEN_DEVICE std::uint32_t* next_partition() const { return &this->log.control->next_of_wide; }

  /// The ref of no log.
  run_ref_of_partials() = default;
  /// The same records and log as `ref`'s.
  WARDEN_HOST_DEVICE run_ref_of_partials(base const& ref) : base{ref} {}
};

}  // namespace detail
WARDEN_NAMESPACE_END
