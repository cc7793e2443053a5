// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel that runs sections on several records, each when its turn has come on all of them.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/several/records.cuh>
#include <warden/detail/several/several_arguments.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block.
inline constexpr unsigned several_threads = 256;

/// One thread of the kernel. It has one section at a time.
///
/// Threads take sections in the order of the log, so each section before a thread's own is finished
/// or taken by a thread. A section waits only for sections before it. So the first unfinished
/// section never waits, and no number of resident blocks leads to a deadlock. The lanes of a warp
/// poll together, so no lane keeps another lane from its section.
template <unsigned Most, class Arguments, class Function>
class several_worker {
  using types = typename Arguments::types;
  using array_set = typename Arguments::array_set;

 public:
  /// Precondition: the arguments outlive this object.
  WARDEN_DEVICE several_worker(Arguments const& a, Function const& function)
      : a_{a}, function_{function}, count_{a.count()} {}

  /// Runs sections until none is left, or the run is poisoned. Collective over the warp.
  WARDEN_DEVICE void run() {
    run_all();
    outcome_counts& counts = a_.control->counts;
    std::uint32_t const committed = simt::warp_sum(counts_.committed);
    std::uint32_t const aborted = simt::warp_sum(counts_.aborted);
    std::uint32_t const refused = simt::warp_sum(counts_.refused);
    if (simt::lane_id() != 0) return;
    simt::add(&counts.committed, committed);
    simt::add(&counts.aborted, aborted);
    simt::add(&counts.refused, refused);
  }

 private:
  WARDEN_DEVICE void run_all() {
    watchdog dog{a_.arrays.first.health, a_.limit};
    unsigned failures = 0;
    bool are_left = true;
    for (;;) {
      if (are_left) are_left = take();
      if (!simt::any(simt::full_warp, has_section_)) return;
      bool const is_ready = has_section_ && has_come();
      unsigned const ready = simt::ballot(simt::full_warp, is_ready);
      if (ready != 0) {
        if (is_ready) finish(run_section());
        simt::sync_warp(simt::full_warp);
        // Tells waiting threads that the run makes progress.
        if (simt::lane_id() == 0)
          simt::add(&a_.control->finished, static_cast<unsigned>(simt::count_bits(ready)));
        failures = 0;
        dog = watchdog{a_.arrays.first.health, a_.limit};
        continue;
      }
      simt::back_off(pause(failures));
      if (++failures % watchdog::polls_per_look == 0 &&
          simt::any(simt::full_warp, has_section_ && !is_hopeful(dog)))
        return;
    }
  }
  /// Gives each lane without a section the next one of the log. Returns false if none is left.
  /// Collective over the warp.
  WARDEN_DEVICE bool take() {
    unsigned const idle = simt::ballot(simt::full_warp, !has_section_);
    if (idle == 0) return true;
    auto const count = static_cast<unsigned>(simt::count_bits(idle));
    std::uint32_t first = 0;
    if (simt::lane_id() == 0) first = simt::fetch_add(&a_.control->next, count);
    first = simt::shuffle(simt::full_warp, first, 0);
    if (!has_section_) {
      unsigned const below = idle & ((1u << simt::lane_id()) - 1);
      section_ = first + static_cast<unsigned>(simt::count_bits(below));
      has_section_ = section_ < count_;
      if (has_section_) begin();
    }
    return first + count < count_;
  }
  /// Loads the section's accesses and turns, and prefetches its records.
  WARDEN_DEVICE void begin() {
    named_ = a_.named[section_];
    std::uint32_t const first = section_ * Most;
    early_ = 0;
    releases_ = false;
    // Constant indexes keep the arrays in registers, and let the loads overlap.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      turns_[s] = a_.turns[first + s];
      ids_[s] = a_.ids[first + s];
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      if (turns_[s].value() != 0) early_ |= 1u << s;
      releases_ = releases_ || turns_[s].releases();
      a_.arrays.with_record(ids_[s], [&](auto const& array) { simt::prefetch(array.at(ids_[s])); });
    }
    waits_ = early_ != 0;
  }
  /// True once the turn of all accesses has come. Polls all other accesses together: polls one
  /// after another would each add their latency to the time between two sections on a hot record.
  WARDEN_DEVICE bool has_come() {
    std::uint32_t done[Most];
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((early_ >> s & 1) != 0) done[s] = simt::load_relaxed(counter(turns_[s]));
    }
    distance_ = 0;
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if ((early_ >> s & 1) == 0) continue;
      // The counter stops at the turn of a write, until the write has finished. It may pass the
      // turn of a read.
      std::uint32_t const turn = turns_[s].value();
      bool const has_come = done[s] >= turn;  // mutation: several-early
      if (has_come) {
        early_ &= ~(1u << s);
      } else if (turn - done[s] > distance_) {
        distance_ = turn - done[s];
      }
    }
    return early_ == 0;
  }
  /// Returns the number of failed polls from which the length of a pause follows. It is small if a
  /// section of the warp waits for few accesses.
  WARDEN_DEVICE unsigned pause(unsigned failures) const {
    std::uint32_t const nearest = simt::warp_min(has_section_ ? distance_ : ~0u) - 1;
    return nearest < failures ? nearest : failures;
  }
  WARDEN_DEVICE bool is_hopeful(watchdog& dog) const {
    return dog.hopeful([&] { return simt::load_relaxed(&a_.control->finished) + std::uint64_t{1}; },
                       [&] {
                         std::uint32_t turn = 0;
                         WARDEN_UNROLL
                         for (unsigned s = 0; s < Most; ++s) {
                           if ((early_ >> s & 1) != 0) turn = turns_[s].value();
                         }
                         stop(a_.arrays.first.health, a_.limit.nanoseconds, turn, section_);
                       });
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

  /// Runs the section on its records. No other thread writes them, or reads those that the section
  /// writes.
  WARDEN_DEVICE outcome run_section() const {
    if (named_.refused_for != refusal::none) {
      report_refusal(a_, section_, named_.refused_for);
      return outcome::refused;
    }
    // Acquire: pairs with the fence in `finish` of the sections whose additions `has_come` has
    // read, for the records that those sections wrote or read.
    if (waits_) simt::fence_device();  // mutation: several-acquire
    if (!rows_fit()) {
      report_rows(a_, section_);
      clear_rows();
      return outcome::refused;
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      a_.arrays.with_record(ids_[s], [&](auto const& array) {
        if (named_.writes_to(s)) {
          simt::section_enter(array.at(ids_[s]));
        } else {
          simt::demand_visible(array.at(ids_[s]));
        }
      });
    }
    outcome result = outcome::refused;
    {
      records<types, Most> mine{a_.arrays, ids_, named_, section_};
      auto const section = function_(std::uint64_t{section_});
      bool const commits = call(section, mine) == outcome::commit;  // mutation: several-abort
      if (mine.is_misused()) {
        simt::fetch_add(&a_.arrays.first.report->accesses_unnamed, std::uint64_t{1});
      } else if (commits) {
        mine.commit([](auto* written) { simt::note_written(written); });
        result = outcome::commit;
      } else {
        result = outcome::abort;
      }
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count || !named_.writes_to(s)) continue;
      a_.arrays.with_record(ids_[s],
                            [&](auto const& array) { simt::section_leave(array.at(ids_[s])); });
    }
    if (result != outcome::commit) clear_rows();
    return result;
  }
  template <class Section>
  WARDEN_DEVICE outcome call(Section const& section, records<types, Most>& mine) const {
    if constexpr (requires { section(mine, a_.context); }) {
      return section(mine, a_.context);
    } else {
      return section(mine);
    }
  }
  /// Releases the records to later sections, and counts the result.
  WARDEN_DEVICE void finish(outcome result) {
    // Release: pairs with the fence in `run_section` of the sections that wait for these additions.
    if (releases_) simt::fence_device();  // mutation: several-release
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count || !turns_[s].releases()) continue;
      simt::add(counter(turns_[s]), 1u);  // mutation: several-lost
    }
    if (a_.outcomes != nullptr) a_.outcomes[section_] = result;
    a_.arrays.for_growing([&](auto const& array, unsigned) { array.rows.settle(section_); });
    counts_.committed += result == outcome::commit ? 1 : 0;
    counts_.aborted += result == outcome::abort ? 1 : 0;
    counts_.refused += result == outcome::refused ? 1 : 0;
    has_section_ = false;
  }

  [[nodiscard]] WARDEN_DEVICE std::uint32_t* counter(access_turn const& of) const {
    return &a_.sorted_ids[of.counter];
  }

  Arguments const& a_;
  Function const& function_;
  std::uint32_t const count_;  ///< sections of the run
  outcome_counts counts_{};    ///< results of this thread's sections
  bool has_section_ = false;
  bool waits_ = false;     ///< true if the turn of any access is not 0
  bool releases_ = false;  ///< true if any access counts when it has finished
  std::uint32_t section_ = 0;
  named_accesses named_{};
  access_turn turns_[Most];     ///< turns of the accesses
  std::uint32_t ids_[Most];     ///< records of the accesses
  unsigned early_ = 0;          ///< bit s: the turn of access s has not come yet
  std::uint32_t distance_ = 0;  ///< accesses to one record that must finish first, at most
};

/// Runs all sections, in the order of the log on each record.
template <unsigned Most, class Arguments, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(several_threads, 1)
    run_several(WARDEN_GRID_CONSTANT Arguments const a,
                WARDEN_GRID_CONSTANT Function const function) {
  simt::assume_one_dimension();
  if (!a.has_records()) return;
  several_worker<Most, Arguments, Function> worker{a, function};
  worker.run();
  a.finish_block();
}
/// Ends a run whose kernels could not all be enqueued, so that none of its sections ran. A log
/// keeps its sections. One thread.
template <class Arguments>
WARDEN_KERNEL void give_up_several(Arguments a) {
  bool const had_records = a.has_records();
  std::uint32_t const left = a.control->sections;
  *a.control = {};
  if (!had_records) return;
  simt::fence_device();  // release, as in finish_block
  a.end(left);
}

}  // namespace detail
WARDEN_NAMESPACE_END
