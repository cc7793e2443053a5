// SPDX-License-Identifier: Apache-2.0
/// @file
/// Global locks in their usual first form: one try-lock loop for each thread, full occupancy [Wang
/// 2020, listing 4.1].
#pragma once

#include <warden/detail/baseline/lock_array.cuh>
#include <warden/detail/baseline/work.cuh>
#include <warden/section.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace baseline {

/// Runs `section(record, context)` under the record's lock. The section is inside the loop's
/// success branch, so that lanes of a warp that wait for one another make progress. Returns false
/// if the launch is poisoned.
template <class Record, class Section, class Context>
WARDEN_DEVICE bool lock_as_written(lock_array_ref const& locks, std::uint32_t lock,
                                   std::uint32_t name, Record& record, Section const& section,
                                   Context context) {
  lock_wait wait = locks.wait(lock);
  bool done = false;
  do {
    std::uint32_t const holder = locks.try_lock(lock, name);
    if (holder == 0) {
      simt::section_enter(&record);
      run_section(section, record, context);
      simt::section_leave(&record);
      locks.unlock(lock);
      done = true;
    } else if (!wait.hopeful(holder)) {
      return false;
    }
  } while (!done);
  return true;
}

/// Runs operation `i` of the work under its record's lock. Returns false if the launch is poisoned.
template <class Record, class Make, class Context, class Ids>
WARDEN_DEVICE bool lock_as_written(work<Record, Make, Context, Ids> const& all,
                                   lock_array_ref const& locks, std::uint32_t i,
                                   std::uint32_t name) {
  std::uint32_t const id = all.ids[i];
  return lock_as_written(locks, id, name, all.records[id], all.make(i), all.context);
}

/// Arguments of the lock kernels.
template <class Work>
struct lock_as_written_arguments {
  Work work;  ///< a `baseline::work`, or another type with an overload of lock_as_written
  lock_array_ref locks;  ///< one for each record
};

/// Kernel of `lock_as_written_async`. Grid: any, one-dimensional.
template <class Work>
WARDEN_KERNEL void lock_as_written_kernel(lock_as_written_arguments<Work> const a) {
  simt::assume_one_dimension();
  std::uint32_t acquisition = 0;
  for_each_from(first_operation(), operation_step(), a.work.n, [&](std::uint32_t i) {
    return lock_as_written(a.work, a.locks, i, lock_array_ref::name(acquisition++));
  });
}

/// Enqueues all of the work; `locks.wait(s)` reports errors. Throws cuda_error.
template <class Work>
void lock_as_written_async(Work const& work, lock_array const& locks, stream_ref s = {}) {
  constexpr unsigned threads = 256;
  auto const kernel = &lock_as_written_kernel<Work>;
  simt::launch(kernel, full_occupancy(kernel, threads), threads, 0, {work, locks.ref()}, s);
}

}  // namespace baseline
WARDEN_NAMESPACE_END
