// SPDX-License-Identifier: Apache-2.0
// Arm without Warden: the first lane of a group takes the lock of the record, then all lanes run
// the section together. Kernels that work on wide records do the same.
#pragma once

#include "apps/support/group_locks.cuh"

#include <warden/baseline.cuh>
#include <warden/section.cuh>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <string>

namespace wide_records {

namespace simt = warden::simt;

template <class Operation>
struct group_lock_arguments {
  typename Operation::record* records;
  std::uint32_t const* ids;
  std::uint32_t n;
  typename Operation::context context;
  warden::baseline::lock_array_ref locks;
};

/// Runs operation i under the lock of its record, by a group of lanes. Returns false if no group
/// makes progress.
template <class Operation, bool BackOff>
__device__ bool run_under_lock(group_lock_arguments<Operation> const& a, std::uint32_t i,
                               std::uint32_t& acquisition) {
  warden::lane_group<warden::group_size_of<typename Operation::section>> const group;
  std::uint32_t const id = a.ids[i];
  bool alive = true;
  if (group.lane() == 0) {
    auto wait = a.locks.wait(id);
    std::uint32_t const name = warden::baseline::lock_array_ref::name(acquisition++);
    for (unsigned failed = 0;; ++failed) {
      std::uint32_t const holder = a.locks.try_lock(id, name);
      if (holder == 0) break;
      alive = wait.hopeful(holder);
      if (!alive) break;
      if constexpr (BackOff) simt::back_off(failed);
    }
  }
  if (group.any(!alive)) return false;
  // The first lane acquires and releases. These barriers extend both to the group: all lanes see
  // the writes of earlier holders, and later holders see the writes of all lanes.
  group.sync();
  auto& record = a.records[id];
  simt::group_enter(group.mask(), &record);
  warden::run_section_together(typename Operation::make{}(i), record, a.context);
  simt::group_leave(group.mask(), &record);
  group.sync();
  if (group.lane() == 0) a.locks.unlock(id);
  return true;
}

/// Runs one operation at a time in each group of lanes. If `Checks`, each lane first looks at one
/// operation without a lock; the group then runs the operations that may change their record, one
/// by one.
template <class Operation, bool Checks, bool BackOff>
WARDEN_KERNEL void run_under_locks(group_lock_arguments<Operation> const a) {
  simt::assume_one_dimension();
  warden::lane_group<warden::group_size_of<typename Operation::section>> const group;
  std::uint32_t const groups = simt::block_count() * simt::block_threads() / group.lanes;
  std::uint32_t const mine =
      (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / group.lanes;
  std::uint32_t acquisition = 0;
  if constexpr (Checks) {
    for (std::uint32_t first = mine * group.lanes; first < a.n; first += groups * group.lanes) {
      std::uint32_t const i = first + group.lane();
      bool const runs =
          i < a.n && !typename Operation::make{}(i).never_changes(a.records[a.ids[i]]);
      for (unsigned left = group.ballot(runs); left != 0; left &= left - 1) {
        auto const next = static_cast<unsigned>(simt::first_bit(left));
        if (!run_under_lock<Operation, BackOff>(a, first + next, acquisition)) return;
      }
    }
  } else {
    for (std::uint32_t i = mine; i < a.n; i += groups) {
      if (!run_under_lock<Operation, BackOff>(a, i, acquisition)) return;
    }
  }
}

/// Arm with the fastest of many grids, as measured on a sample.
template <class Operation, bool Checks>
class lock_arm {
 public:
  lock_arm(typename Operation::record* records, std::uint32_t keys,
           typename Operation::context context)
      : records_{records}, context_{context}, locks_{keys} {}

  /// Chooses settings by launches on up to n of these operations. Returns the choice as text.
  std::string tune(std::uint32_t const* ids, std::uint32_t n) {
    choice_ = apps::fastest_group_locks(
        n, [&](auto const& choice, std::uint32_t part) { return cost_of(choice, ids, part); });
    return to_string(choice_);
  }
  void run_async(std::uint32_t const* ids, std::uint32_t n) { run_async(choice_, ids, n); }
  void wait() { locks_.wait(); }

 private:
  double cost_of(apps::group_lock_choice const& choice, std::uint32_t const* ids, std::uint32_t n) {
    warden::timer clock;
    clock.start();
    run_async(choice, ids, n);
    clock.stop();
    warden::measurement const m = clock.result();
    locks_.wait();
    return m.seconds > 0 ? m.seconds : static_cast<double>(m.global_atomics);
  }
  void run_async(apps::group_lock_choice const& choice, std::uint32_t const* ids, std::uint32_t n) {
    auto const kernel = choice.back_off ? &run_under_locks<Operation, Checks, true>
                                        : &run_under_locks<Operation, Checks, false>;
    unsigned const blocks = choice.blocks != 0
                                ? choice.blocks
                                : static_cast<unsigned>(warden::runtime::resident_blocks(
                                      simt::make_kernel(kernel), choice.threads, 0));
    simt::launch(kernel, blocks, choice.threads, 0, {records_, ids, n, context_, locks_.ref()}, {});
  }

  typename Operation::record* records_;
  typename Operation::context context_;
  warden::baseline::lock_array locks_;
  apps::group_lock_choice choice_{};
};

}  // namespace wide_records
