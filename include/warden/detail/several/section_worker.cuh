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
/// Threads take sections in the order of the log, so all sections before a thread's own are
/// finished, or threads have them. A section waits only for sections before it. So the first
/// unfinished one never waits, and no number of resident blocks leads to a deadlock. The lanes of a
/// warp poll together, so none keeps another one from its section.
template <unsigned Most, class Record, class Context, class Function>
class several_worker {
  using arguments_type = several_arguments<Record, Context>;

 public:
  /// Precondition: the arguments outlive this object.
  WARDEN_DEVICE several_worker(arguments_type const& a, Function const& function)
      : a_{a}, function_{function}, count_{a.count()} {}

  /// Runs sections until none is left. Collective over the warp.
  WARDEN_DEVICE void run() {
    watchdog dog{a_.array.health, a_.limit};
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
        dog = watchdog{a_.array.health, a_.limit};
        continue;
      }
      simt::back_off(pause(failures));
      if (++failures % watchdog::polls_per_look == 0 &&
          simt::any(simt::full_warp, has_section_ && !is_hopeful(dog)))
        return;
    }
  }

 private:
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
  WARDEN_DEVICE void begin() {
    named_ = a_.named[section_];
    slot_ = 0;
    has_waited_ = false;
    if (named_.count != 0) now_ = a_.turns[first()];
    // Loads the records into the level-2 cache while the section waits.
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      ids_[s] = a_.ids[first() + s];
      simt::prefetch(&a_.array.records[ids_[s]]);
    }
  }
  /// True once the turn of all accesses has come. Polls the first one whose turn has not.
  WARDEN_DEVICE bool has_come() {
    distance_ = 0;
    while (slot_ < named_.count) {
      std::uint32_t const turn = now_.turn & ~access_turn::releases;
      if (turn != 0) {
        // A write waits until the counter is equal to its turn. It is larger only for a read.
        std::uint32_t const done = simt::load_relaxed(counter(now_));
        bool const is_early = done < turn;  // mutation: several-early
        if (is_early) {
          distance_ = turn - done;
          return false;
        }
        has_waited_ = true;
      }
      if (++slot_ < named_.count) now_ = a_.turns[first() + slot_];
    }
    return true;
  }
  /// Returns the number of failed polls by which a pause is chosen: few if an access of the warp is
  /// next on its record.
  WARDEN_DEVICE unsigned pause(unsigned failures) const {
    std::uint32_t const nearest = simt::warp_min(has_section_ ? distance_ : ~0u) - 1;
    return nearest < failures ? nearest : failures;
  }
  WARDEN_DEVICE bool is_hopeful(watchdog& dog) const {
    return dog.hopeful([&] { return simt::load_relaxed(&a_.control->finished) + std::uint64_t{1}; },
                       [&] { stop(a_.array.health, a_.limit.nanoseconds, now_, section_); });
  }
  /// By value, because an argument that is passed by address would be in local memory everywhere.
  WARDEN_COLD static void stop(guarded_health* health, std::uint64_t nanoseconds, access_turn now,
                               std::uint32_t section) {
    failed_wait const first{wait_kind::record_turn,
                            simt::block_rank(),
                            simt::thread_rank(),
                            0,
                            now.turn & ~access_turn::releases,
                            0,
                            section,
                            0,
                            0,
                            wait_kind::nothing};
    if (!poison(health, first)) return;
    health->failed.limit_nanoseconds = nanoseconds;
    health->failed.member_count = 0;
  }

  /// Runs the section on its records, which no other thread writes, nor reads if this one writes.
  WARDEN_DEVICE outcome run_section() const {
    if (named_.is_refused != 0) return outcome::refused;
    // Acquire: pairs with the fence in `finish` of the sections whose additions `has_come` has
    // read, for the records that those sections wrote or read.
    if (has_waited_) simt::fence_device();  // mutation: several-acquire
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s >= named_.count) continue;
      if (named_.writes_to(s)) {
        simt::section_enter(&a_.array.records[ids_[s]]);
      } else {
        simt::demand_visible(&a_.array.records[ids_[s]]);
      }
    }
    outcome result = outcome::refused;
    {
      records<Record, Most> mine{a_.array.records, ids_, named_};
      auto const section = function_(std::uint64_t{section_});
      bool const commits = call(section, mine) == outcome::commit;  // mutation: several-abort
      if (mine.is_misused()) {
        simt::fetch_add(&a_.array.report->accesses_unnamed, std::uint64_t{1});
      } else if (commits) {
        mine.commit([](Record* written) { simt::note_written(written); });
        result = outcome::commit;
      } else {
        result = outcome::abort;
      }
    }
    WARDEN_UNROLL
    for (unsigned s = 0; s < Most; ++s) {
      if (s < named_.count && named_.writes_to(s)) simt::section_leave(&a_.array.records[ids_[s]]);
    }
    return result;
  }
  template <class Section>
  WARDEN_DEVICE outcome call(Section const& section, records<Record, Most>& mine) const {
    if constexpr (requires { section(mine, a_.context); }) {
      return section(mine, a_.context);
    } else {
      return section(mine);
    }
  }
  /// Lets later sections have the records.
  WARDEN_DEVICE void finish(outcome result) {
    // Release: pairs with the fence in `run_section` of the sections that wait for these additions.
    simt::fence_device();  // mutation: several-release
    for (unsigned s = 0; s < named_.count; ++s) {
      access_turn const one = a_.turns[first() + s];
      if ((one.turn & access_turn::releases) == 0) continue;
      simt::add(counter(one), 1u);  // mutation: several-lost
    }
    if (a_.outcomes != nullptr) a_.outcomes[section_] = result;
    outcome_counts& counts = a_.control->counts;
    simt::add_together(result == outcome::commit  ? &counts.committed
                       : result == outcome::abort ? &counts.aborted
                                                  : &counts.refused,
                       1u);
    has_section_ = false;
  }

  [[nodiscard]] WARDEN_DEVICE std::uint32_t first() const { return section_ * Most; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t* counter(access_turn const& of) const {
    return &a_.sorted_ids[of.counter];
  }

  arguments_type const& a_;
  Function const& function_;
  std::uint32_t const count_;  ///< sections of the run
  bool has_section_ = false, has_waited_ = false;
  std::uint32_t section_ = 0;
  named_accesses named_{};
  std::uint32_t ids_[Most];     ///< records of the accesses
  unsigned slot_ = 0;           ///< first access whose turn has not come yet
  access_turn now_{};           ///< its turn
  std::uint32_t distance_ = 0;  ///< accesses that have to finish before
};

/// Runs all sections, in the order of the log on each record.
template <unsigned Most, class Record, class Context, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(several_threads, 1)
    run_several(WARDEN_GRID_CONSTANT several_arguments<Record, Context> const a,
                WARDEN_GRID_CONSTANT Function const function) {
  simt::assume_one_dimension();
  if (!a.has_records()) return;
  several_worker<Most, Record, Context, Function> worker{a, function};
  worker.run();
  a.finish_block();
}
/// Frees the records of a run whose kernels could not all be enqueued. One thread.
template <class Arguments>
WARDEN_KERNEL void give_up_several(Arguments a) {
  if (!a.has_records()) return;
  simt::fetch_add(&a.array.report->given_up, std::uint64_t{a.count()});
  a.open();
  simt::fence_device();  // release, as in finish_block
  a.array.free();
}

}  // namespace detail
WARDEN_NAMESPACE_END
