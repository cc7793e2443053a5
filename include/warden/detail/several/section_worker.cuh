// SPDX-License-Identifier: Apache-2.0
/// @file
/// A thread that runs one section on several records at a time, when its turn has come on all of
/// them.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/several/held_section.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block.
inline constexpr unsigned several_threads = 256;

/// A thread's section, and what is done with it. Threads take sections in the order of the array
/// or of the log, and a section waits only for sections before it.
template <unsigned Most, class Arguments, class Function>
class section_worker {
 public:
  /// Section of this thread.
  using held =
      held_section<Most, Arguments,
                   std::remove_cvref_t<std::invoke_result_t<Function const&, std::uint64_t>>>;

 protected:
  /// `storage` is memory for a section. Precondition: it and the arguments outlive this object.
  WARDEN_DEVICE section_worker(Arguments const& a, Function const& function, std::byte* storage)
      : a_{a}, function_{function}, held_{storage}, count_{a.count()} {}

  /// Adds the results of the warp's sections to those of the run. Collective over the warp.
  WARDEN_DEVICE void add_counts() const {
    outcome_counts& counts = a_.control->counts;
    std::uint32_t const committed = simt::warp_sum(counts_.committed);
    std::uint32_t const aborted = simt::warp_sum(counts_.aborted);
    std::uint32_t const refused = simt::warp_sum(counts_.refused);
    if (simt::lane_id() != 0) return;
    simt::add(&counts.committed, committed);
    simt::add(&counts.aborted, aborted);
    simt::add(&counts.refused, refused);
  }
  /// Tells waiting threads that the run makes progress. One lane.
  WARDEN_DEVICE void note_progress(unsigned sections) const {
    simt::add(&a_.control->finished, sections);
  }

  /// Loads section `section_`, its accesses and turns, and prefetches its records. Those that the
  /// block owns are in `own_records`.
  WARDEN_DEVICE void begin(std::byte* own_records) {
    named_ = a_.named[section_];
    std::uint32_t const first = section_ * Most;
    early_ = 0;
    at_.owned = 0;
    at_.own = own_records;
    releases_ = false;
    // Constant indexes keep the arrays in registers, and let the loads overlap.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      at_.turns[s] = a_.turns[first + s];
      at_.ids[s] = a_.ids[first + s];
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      if (at_.turns[s].is_hot()) {
        at_.owned |= 1u << s;
        continue;
      }
      if (at_.turns[s].value() != 0) early_ |= 1u << s;
      releases_ = releases_ || at_.turns[s].releases();
      with_record(s, [](auto* record) { simt::prefetch(record); });
    }
    waits_ = early_ != 0;
    runs_ = find_whether_it_runs();
    if (runs_) held_.hold(a_, function_(std::uint64_t{section_}), section_, named_, at_);
  }
  /// True once the turn of all accesses has come whose counters are in global memory. Polls all
  /// other accesses together: polls one after another would each add their latency to the time
  /// between two sections on a hot record.
  WARDEN_DEVICE bool has_come() {
    std::uint32_t done[Most];
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((early_ >> s & 1) != 0) done[s] = simt::load_relaxed(counter(at_.turns[s]));
    }
    distance_ = 0;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((early_ >> s & 1) == 0) continue;
      // The counter stops at the turn of a write, until the write has finished. It may pass the
      // turn of a read.
      std::uint32_t const turn = at_.turns[s].value();
      bool const has_come = done[s] >= turn;  // mutation: several-early
      if (has_come) {
        early_ &= ~(1u << s);
      } else {
        note_wait(turn, done[s]);
      }
    }
    return early_ == 0;
  }
  /// Notes that the section waits for a counter, which is `done`, to reach `turn`.
  WARDEN_DEVICE void note_wait(std::uint32_t turn, std::uint32_t done) {
    if (turn - done <= distance_) return;
    distance_ = turn - done;
    awaited_ = turn;
  }
  /// Returns the number of failed polls from which the length of a pause follows, after `failures`
  /// of them. It is small if a section of the warp waits for few accesses. Collective over the
  /// warp.
  WARDEN_DEVICE unsigned pause(unsigned failures, bool waits) const {
    std::uint32_t const nearest = simt::warp_min(waits ? distance_ : ~0u) - 1;
    return nearest < failures ? nearest : failures;
  }
  /// True unless the run has ended by the time limit, now or before.
  WARDEN_DEVICE bool is_hopeful(watchdog& dog) const {
    return dog.hopeful(
        [&] { return simt::load_relaxed(&a_.control->finished) + std::uint64_t{1}; },
        [&] { stop(a_.arrays.first.health, a_.limit.nanoseconds, awaited_, section_); });
  }

  /// Acquires the records whose counters are in global memory. Pairs with the fence in `release` of
  /// the sections whose additions `has_come` has read, for the records that those sections wrote or
  /// read.
  WARDEN_DEVICE void acquire() const {
    if (waits_) simt::fence_device();  // mutation: several-acquire
  }
  /// True if the rows that the section appends fit their arrays.
  [[nodiscard]] WARDEN_DEVICE bool rows_fit() const {
    bool fit = true;
    a_.arrays.for_growing([&](auto const& array, unsigned) {
      if (!array.holds(array.rows.rows_of(section_))) fit = false;  // mutation: several-rows
    });
    return fit;
  }
  /// Reports the arrays that the section's rows do not fit.
  WARDEN_COLD static void report_rows(Arguments const& a, std::uint32_t section) {
    a.arrays.for_growing([&](auto const& array, unsigned) {
      if (array.holds(array.rows.rows_of(section))) return;
      simt::fetch_add(&array.report->rows_refused, std::uint64_t{1});
      simt::store_relaxed(&array.report->rows_at_most, array.size);
    });
  }
  /// Sets the places of the section's rows to zero bytes.
  WARDEN_DEVICE void clear_rows() const {
    a_.arrays.for_growing([&](auto const& array, unsigned) { array.clear_rows(section_); });
  }

  /// Tells the simulated device that the section begins to access its records.
  WARDEN_DEVICE void enter() const {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      with_record(s, [&](auto* record) {
        if (named_.writes_to(s)) {
          simt::section_enter(record);
        } else {
          simt::demand_visible(record);
        }
      });
    }
  }
  /// Tells the simulated device that the section has accessed the records of a mask of accesses.
  WARDEN_DEVICE void leave(unsigned slots) const {
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((slots >> s & 1) == 0 || !named_.writes_to(s)) continue;
      with_record(s, [](auto* record) { simt::section_leave(record); });
    }
  }
  /// Copies the records of the accesses in a mask, if the section uses copies of them.
  WARDEN_DEVICE void copy(unsigned slots) {
    held_.copy(held::copies_all ? slots : slots & named_.writes);
  }
  /// Calls the section with its records. No other thread writes them, or reads those that the
  /// section writes. If the result is `commit`, the copies are yet to be written back.
  WARDEN_DEVICE outcome execute() {
    outcome const result = held_.call(a_.context);
    if (result == outcome::refused)
      simt::fetch_add(&a_.arrays.first.report->accesses_unnamed, std::uint64_t{1});
    return result;
  }
  /// Writes back the records of those accesses in a mask that are writes. They are in their arrays.
  WARDEN_DEVICE void commit(unsigned slots) {
    held_.commit(slots & named_.writes, [](auto* written) { simt::note_written(written); });
  }
  /// Returns a mask of all accesses.
  [[nodiscard]] WARDEN_DEVICE unsigned all() const { return (1u << named_.count) - 1; }
  /// Releases the records whose counters are in global memory to later sections.
  WARDEN_DEVICE void release() const {
    // Release: pairs with the fence in `acquire` of the sections that wait for these additions.
    if (releases_) simt::fence_device();  // mutation: several-release
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count || at_.turns[s].is_hot() || !at_.turns[s].releases()) continue;
      simt::add(counter(at_.turns[s]), 1u);  // mutation: several-lost
    }
  }
  /// Notes the result of the section.
  WARDEN_DEVICE void note(outcome result) {
    if (result != outcome::commit) clear_rows();
    if (a_.outcomes != nullptr) a_.outcomes[section_] = result;
    a_.arrays.for_growing([&](auto const& array, unsigned) { array.rows.settle(section_); });
    counts_.committed += result == outcome::commit ? 1 : 0;
    counts_.aborted += result == outcome::abort ? 1 : 0;
    counts_.refused += result == outcome::refused ? 1 : 0;
  }

  Arguments const& a_;
  Function const& function_;
  held held_;                  ///< section of this thread, if it runs
  std::uint32_t const count_;  ///< sections of the run
  outcome_counts counts_{};    ///< results of this thread's sections
  bool runs_ = false;          ///< false if the section is refused
  bool waits_ = false;         ///< true if any access waits for a counter in global memory
  bool releases_ = false;      ///< true if any access counts there when it has finished
  std::uint32_t section_ = 0;
  named_accesses named_{};
  record_places<Most> at_;      ///< turns and records of the accesses
  unsigned early_ = 0;          ///< bit s: the turn of access s has not come yet
  std::uint32_t distance_ = 0;  ///< accesses to one record that must finish first, at most
  std::uint32_t awaited_ = 0;   ///< turn that the access with this distance waits for

 private:
  /// True if the section runs. Otherwise reports why it is refused.
  [[nodiscard]] WARDEN_DEVICE bool find_whether_it_runs() const {
    if (named_.refused_for != refusal::none) {
      report_refusal(a_, section_, named_.refused_for);
      return false;
    }
    if (rows_fit()) return true;
    report_rows(a_, section_);
    return false;
  }
  /// Poisons the launch. Arguments are passed by value, because an argument whose address is taken
  /// would be in local memory in the whole kernel.
  WARDEN_COLD static void stop(guarded_health* health, std::uint64_t nanoseconds,
                               std::uint32_t turn, std::uint32_t section) {
    failed_wait const first{
        wait_kind::record_turn, simt::block_rank(), simt::thread_rank(), 0, turn, 0, section, 0, 0,
        wait_kind::nothing};
    if (!poison(health, first)) return;
    health->failed.limit_nanoseconds = nanoseconds;
    health->failed.member_count = 0;
  }
  /// Reports why a section does not run.
  WARDEN_COLD static void report_refusal(Arguments const& a, std::uint32_t section, refusal why) {
    guarded_report* const report = a.arrays.first.report;
    if (why == refusal::too_many) {
      simt::fetch_add(&report->accesses_too_many, std::uint64_t{1});
      simt::store_relaxed(&report->accesses_at_most, std::uint64_t{Most});
      return;
    }
    if (why == refusal::rows) {
      simt::fetch_add(&report->rows_too_many, std::uint64_t{1});
      return;
    }
    for (unsigned s = 0; s < Most; ++s) {
      access_turn const named = a.turns[section * Most + s];
      if (named.turn == 0) continue;
      a.arrays.with_array(named.turn - 1, [&](auto const& array) {
        if (named.counter >= array.limit()) array.report_id(named.counter, section);
      });
    }
  }

  /// Calls `f(record)` with the place of an access's record in its array.
  template <class F>
  WARDEN_DEVICE void with_record(unsigned slot, F const& f) const {
    a_.arrays.with_record(at_.ids[slot], [&](auto const& array) { f(array.at(at_.ids[slot])); });
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t* counter(access_turn const& of) const {
    return &a_.sorted_ids[of.counter];
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
