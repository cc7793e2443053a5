// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel that runs sections on several records, each when its turn has come on all of them.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/several/owner_worker.cuh>
#include <warden/detail/several/section_worker.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One thread of the kernel. It has one section at a time.
///
/// Threads take the sections without an owner in the order of the log, so each of them before a
/// thread's own is finished or taken by a thread. So if the first unfinished section has no owner,
/// it is not waiting; owner_worker says why it is not if it has one. Without owners no number of
/// resident blocks leads to a deadlock. The lanes of a warp poll together, so no lane keeps another
/// lane from its section.
template <unsigned Most, class Arguments, class Function>
class several_worker : section_worker<Most, Arguments, Function> {
  using base = section_worker<Most, Arguments, Function>;

 public:
  /// `storage` is memory for the records of a section. Precondition: the arguments outlive this
  /// object.
  WARDEN_DEVICE several_worker(Arguments const& a, Function const& function, std::byte* storage)
      : base{a, function, storage}, has_owners_{a.control->owners != 0} {}

  /// Runs sections until none is left, or the run is poisoned. Collective over the warp.
  WARDEN_DEVICE void run() {
    run_all();
    this->add_counts();
  }

 private:
  /// Lanes without a section for which a warp takes sections, while its other lanes do not run.
  static constexpr unsigned taken_at_once = simt::warp_size / 2;

  WARDEN_DEVICE void run_all() {
    watchdog dog{this->a_.arrays.first.health, this->a_.limit};
    unsigned failures = 0;
    bool are_left = true;
    for (;;) {
      if (are_left) are_left = take();
      if (!simt::any(simt::full_warp, has_section_)) {
        if (!are_left) return;
        continue;
      }
      bool const is_ready = has_section_ && this->has_come();
      unsigned const ready = simt::ballot(simt::full_warp, is_ready);
      if (ready != 0) {
        if (is_ready) run_section();
        simt::sync_warp(simt::full_warp);
        if (simt::lane_id() == 0)
          this->note_progress(static_cast<unsigned>(simt::count_bits(ready)));
        failures = 0;
        dog = watchdog{this->a_.arrays.first.health, this->a_.limit};
        continue;
      }
      simt::back_off(this->pause(failures, has_section_));
      if (++failures % watchdog::polls_per_look == 0 &&
          simt::any(simt::full_warp, has_section_ && !this->is_hopeful(dog)))
        return;
    }
  }
  /// Gives each lane without a section the next one of the log, if there are enough such lanes.
  /// Returns false if no section is left.
  /// Collective over the warp.
  WARDEN_DEVICE bool take() {
    unsigned const idle = simt::ballot(simt::full_warp, !has_section_);
    auto const count = static_cast<unsigned>(simt::count_bits(idle));
    if (count < taken_at_once) return true;
    std::uint32_t first = 0;
    if (simt::lane_id() == 0) first = simt::fetch_add(&this->a_.control->next, count);
    first = simt::shuffle(simt::full_warp, first, 0);
    if (!has_section_) {
      unsigned const below = idle & ((1u << simt::lane_id()) - 1);
      this->section_ = first + static_cast<unsigned>(simt::count_bits(below));
      has_section_ = this->section_ < this->count_ && !is_owned(this->section_);
      if (has_section_) this->begin(nullptr);
    }
    return first + count < this->count_;
  }
  /// True if an owner of records runs the section.
  [[nodiscard]] WARDEN_DEVICE bool is_owned(std::uint32_t section) const {
    return has_owners_ && this->a_.owned.owner_of(section) != 0;  // mutation: several-both
  }
  /// Runs the section, and releases its records.
  WARDEN_DEVICE void run_section() {
    outcome result = outcome::refused;
    if (this->runs_) {
      this->acquire();
      this->enter();
      this->copy(this->all());
      result = this->execute();
      if (result == outcome::commit) this->commit(this->all());
      this->leave(this->all());
    }
    this->note(result);
    this->release();
    has_section_ = false;
  }

  bool const has_owners_;  ///< true if any section has an owner
  bool has_section_ = false;
};

/// Runs all sections, in the order of the log on each record.
template <unsigned Most, class Arguments, class Function>
WARDEN_KERNEL void WARDEN_BOUNDS(several_threads, 1)
    run_several(WARDEN_GRID_CONSTANT Arguments const a,
                WARDEN_GRID_CONSTANT Function const function) {
  simt::assume_one_dimension();
  if (!a.has_records()) return;
  using owner = owner_worker<Most, Arguments, Function>;
  // An object of its own, so that the members of the workers stay in registers.
  using memory = typename owner::held::memory;
  alignas(memory) std::byte storage[sizeof(memory)];
  if (simt::block_rank() < a.control->owners) owner{a, function, storage}.run();
  several_worker<Most, Arguments, Function> worker{a, function, storage};
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
