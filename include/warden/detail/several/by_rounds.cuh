// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs sections on two records of one guarded array in rounds, if they need no order.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/to.cuh>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/log_base.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/send_async.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/rounds_runner.cuh>
#include <warden/detail/pairs/run_pairs_ref.cuh>
#include <warden/detail/several/access_list.cuh>
#include <warden/detail/several/order_kernels.cuh>
#include <warden/detail/several/records.cuh>
#include <warden/detail/several/section_in_rounds.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

namespace detail {

/// Function of the log of the rounds. `Function` returns the sections of a run by number.
template <class Section, class Record, class Context, class Function>
struct sections_of_rounds : naming_function {
  using sent_type = section_in_rounds<Section, Record, Context>;

  rounds_arguments<Record, Context> run;
  Function function;

  sections_of_rounds(rounds_arguments<Record, Context> const& a, Function const& f)
      : run{a}, function{f} {}

  /// Returns a section.
  WARDEN_DEVICE Section operator()(std::uint64_t i) const { return function(i); }
  /// Returns the number of sections, which is known when the run has the records.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t count() const {
    return run.has_records() ? run.count() : 0;
  }
  /// Returns a section with its two records, or nothing if it does not go to the log. Reports wrong
  /// names.
  WARDEN_DEVICE nothing_or<to<sent_type, 2>> named(std::uint64_t i, Section const& section) const {
    auto const number = static_cast<std::uint32_t>(i);
    access_list<2> list;
    section.access(list);
    unsigned const count = list.named().count;
    guarded_report* const report = run.arrays.first.report;
    if (list.calls() > 2) {
      simt::fetch_add(&report->accesses_too_many, std::uint64_t{1});
      simt::store_relaxed(&report->accesses_at_most, std::uint64_t{2});
    } else if (count == 0 && run.records == 0) {
      // No log has records for its messages, and this section excludes no other one.
      sent_type::run_without_records(section, number, run);
      return {};
    } else {
      // A section without records goes with the others, so that it runs if they do.
      std::uint32_t const first = count == 0 ? number % run.records : list.id(0);
      std::uint32_t const second = count == 2 ? list.id(1) : first;    // mutation: by-rounds-second
      bool const exist = first < run.records && second < run.records;  // mutation: by-rounds-bad
      if (exist) return to{first, second, sent_type::of(section, number, first, second, run)};
      report_ids(report, run.records, number, first, second, count);
    }
    run.note(number, outcome::refused);
    return {};
  }

 private:
  /// Arguments are passed by value, because the object would be in local memory otherwise.
  WARDEN_COLD static void report_ids(guarded_report* report, std::uint32_t size,
                                     std::uint32_t section, std::uint32_t first,
                                     std::uint32_t second, unsigned count) {
    static_cast<void>(report->check(first, size, section));
    if (count == 2) static_cast<void>(report->check(second, size, section));
  }
};

/// Policy of the log of the rounds: the guarded array's, with the arguments of a run as context.
template <class Policy, class Record, class Section>
struct policy_in_rounds : Policy {
  using context = rounds_arguments<Record, typename Policy::context>;  ///< see above
  /// Threads of a block that sends. A block of twice as many must fit 64 KB of shared memory, the
  /// least of all devices: with 512 threads, messages of 48 bytes do not fit.
  static constexpr unsigned block_threads =
      std::min(Policy::block_threads, rounds_layout<Section>::message_bytes > 32 ? 128u : 256u);
  /// Tiles that do not fit the chip stay in memory.
  static constexpr placement records = placement::automatic;
};

/// Device view for the workers of the rounds. The run has taken the records before its sections are
/// sent to the log of the rounds, because a section with wrong ids is reported then.
template <class Policy, class Record, class Section>
class several_in_rounds_ref
    : public run_pairs_ref<policy_in_rounds<Policy, Record, Section>, Record,
                           section_in_rounds<Section, Record, typename Policy::context>> {
 public:
  using partials = several_in_rounds_ref;  ///< nothing is combined

  /// True if the run has the records. One thread.
  WARDEN_DEVICE bool take_records() const { return this->sections_context.has_records(); }
  /// Ends the run, and frees the records, unless `give_up_several` has done so. If no section has
  /// run the user's log keeps all. One thread. Precondition: the caller has fenced (release).
  WARDEN_DEVICE void free_records(bool have_run) const {
    auto const& run = this->sections_context;
    if (!run.has_records()) return;
    // After the time limit the number of sections that have run is not known.
    if (have_run && !this->has_failed()) run.control->finished = run.count();
    run.end(have_run ? 0 : run.count());  // mutation: by-rounds-end
  }
};

/// The log of the rounds, which holds the sections of one run.
template <class Policy, class Record, class Section>
class several_in_rounds
    : public log_base<several_in_rounds_ref<Policy, Record, Section>,
                      rounds_runner<several_in_rounds_ref<Policy, Record, Section>>> {
  using context = typename Policy::context;
  using section_type = section_in_rounds<Section, Record, context>;
  using run_type = several_in_rounds_ref<Policy, Record, Section>;
  using runner = rounds_runner<run_type>;
  using base = log_base<run_type, runner>;
  using layout = rounds_layout<Section>;

 public:
  using ref_type = deferred_ref<policy_in_rounds<Policy, Record, Section>, Record, section_type>;

  /// Makes the memory for at most `sections` sections. Throws as deferred does.
  template <class Guarded>
  several_in_rounds(Guarded& on, std::size_t sections, std::source_location where)
      : base{on.device(), guarded_access::shared(on), runner{on}} {
    log_plan<run_type>::check(sections, on.size(), false, where);
    static_cast<run_array<Record>&>(this->run_) = guarded_access::array<Record>(on, true);
    this->make(sections, {}, where);
    if constexpr (layout::omitted != 0)
      aside_ = buffer<std::uint32_t>{sections * layout::omitted, where};
  }

  /// Returns the argument of the kernel that sends sections to this log.
  [[nodiscard]] ref_type ref() const {
    ref_type r;
    r.log = this->run_.log;
    r.report = this->run_.report;
    r.size = this->run_.size;
    r.records = this->run_.records;
    return r;
  }
  /// Returns the device memory of the log. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const { return base::memory_bytes() + aside_.bytes(); }
  /// Returns the number of sections with each result, from the state of a run.
  [[nodiscard]] static outcome_counts counts(several_control const& run) {
    outcome_counts all = run.counts;
    for (std::uint32_t const some : run.aborts) all.aborted += some;
    std::uint32_t const others = all.aborted + all.refused;
    all.committed = run.finished - std::min(run.finished, others);
    return all;
  }
  /// Enqueues the sections that `f(i)` returns for all i below `a.sections`. Throws cuda_error.
  /// This log is empty then, and if a round had begun, sections may have run.
  template <class Function>
  void run(several_arguments<Record, context> const& a, Function const& f, stream_ref s,
           std::source_location where) {
    // Comes first: what a failed run has left frees the records.
    base::open_after_failure(s, where);
    simt::launch(&close_several<several_arguments<Record, context>>, 1, 1, 0, a, s, where);
    this->run_.sections_context = {a, aside_.data()};
    try {
      sections_of_rounds<Section, Record, context, Function> const all{this->run_.sections_context,
                                                                       f};
      fill_log<base::client_threads, false>(*this, all, {0, a.sections}, s, where);
      base::run(s, where);
    } catch (...) {
      this->abandon(0, s, where);
      throw;
    }
  }

 private:
  buffer<std::uint32_t> aside_;  ///< [capacity][2], see rounds_arguments
};

/// Stands for the rounds of sections that do not run in rounds.
struct not_in_rounds {
  static constexpr std::size_t memory_bytes() { return 0; }
};
/// Log of the rounds of a deferred_several, or not_in_rounds. Rounds run sections on two records of
/// one array, without an order. A message of their log holds the section, which may therefore have
/// at most 36 bytes; blocks that run it need a power of two as their number of threads.
template <class Guarded, class Section, unsigned Most>
struct rounds_for {
  using type = not_in_rounds;
};
template <class Guarded, class Section>
requires requires { typename Guarded::policy; }
struct rounds_for<Guarded, Section, 2> {
  using policy = typename Guarded::policy;
  using record = typename Guarded::record;
  static constexpr bool fit =
      !policy::order::in_order && payload_bytes<Section> <= 36 &&
      std::has_single_bit(policy_in_rounds<policy, record, Section>::block_threads) &&
      std::is_copy_assignable_v<record>;
  using type = std::conditional_t<fit, several_in_rounds<policy, record, Section>, not_in_rounds>;
};

}  // namespace detail
WARDEN_NAMESPACE_END
