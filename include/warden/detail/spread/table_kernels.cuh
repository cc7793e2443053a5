// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels before and after the exchange of tables of partials: one prepares the runs that fill a
/// rank's tables for other ranks, one runs the sections of the tables that have arrived.
#pragma once

#include <warden/detail/bulk/partial_sum.cuh>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/section_log.cuh>
#include <warden/detail/spread/partial_cell.cuh>
#include <warden/detail/spread/spread_kernels.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Arguments of the kernel that prepares runs.
template <class Ref>
struct prepare_arguments {
  run_arguments<Ref> run;
  exchange_table table;   ///< table of all ranks
  std::uint32_t own;      ///< this rank
  log_control* controls;  ///< [rank]
};
/// Writes the counters of the runs that fill this rank's tables. The log keeps its own counters for
/// the run of the sections that stay. One block.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    prepare_tables(prepare_arguments<Ref> a) {
  simt::assume_one_dimension();
  auto const& log = a.run.ref.log;
  for (std::uint32_t r = simt::thread_rank(); r < a.table.ranks; r += simt::block_threads()) {
    if (!a.table.sends_table(a.own, r)) continue;
    log_control& control = a.controls[r];
    control = {};
    control.rows = log.rows_written();
    control.wide_rows = log.control->wide_rows;  // mutation: table-wide
    simt::store_relaxed(&control.running, a.run.number);
  }
}

/// Arguments of the kernel that runs what has arrived.
template <class Ref>
struct arrived_arguments {
  run_arguments<Ref> run;  ///< run of the log of arrived messages, whose pool also has the tables
  exchange_table table;    ///< table of all ranks
  std::uint32_t own;       ///< this rank
};
/// Id of the record at a place of this rank, computed if the section takes it.
template <class Ref>
struct id_of_place {
  Ref const& ref;
  std::uint32_t place;

  WARDEN_DEVICE operator record_id() const {
    return static_cast<typename Ref::numbers const&>(ref).id_of(place);
  }
};
/// Combines the partials of each record in all arrived tables, and runs them as one section. Grid:
/// any.
template <class Ref>
WARDEN_KERNEL void WARDEN_BOUNDS(Ref::policy::block_threads, 1)
    run_tables(arrived_arguments<Ref> a) {
  using partial = typename Ref::formats::partial;
  simt::assume_one_dimension();
  if (!a.run.runs()) return;
  auto const& ref = a.run.ref;
  std::uint32_t const step = simt::block_count() * simt::block_threads();
  for (std::uint32_t place = simt::block_rank() * simt::block_threads() + simt::thread_rank();
       place < ref.size; place += step) {
    partial_sum<partial> sum;
    std::uint32_t first = 0;
    for (std::uint32_t from = 0; from < a.table.ranks; ++from) {
      if (a.table.sends_table(from, a.own)) {
        auto const* const cells =
            reinterpret_cast<partial_cell<partial> const*>(ref.log.pool + first);
        cells[place].add_to(sum);  // mutation: table-of-rank
      }
      first += a.table.spaced(from, a.own);
    }
    run_sum(sum, ref.records + place, ref.sections_context, id_of_place<Ref>{ref, place});
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
