// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a run that fills a table of partials.
#pragma once

#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/placed_kernels.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/spread/partial_cell.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the sections of such a log on the cells of a table, which are at `Where` during the run.
template <placement Where, class Policy, class Record, class Section>
class cell_runner {
  using run_type = run_ref<Policy, Record, Section>;
  using policy = cell_policy<Policy, Where>;
  using section = cell_section<Section>;

 public:
  /// Cell of a table.
  using cell = partial_cell<partial_of<Section>>;

  /// Plans runs of a log that is run by the partitions of `run`. Returns false if a block would
  /// need more than `most_bytes` of shared memory. Throws cuda_error.
  bool plan(run_type const& run, std::size_t most_bytes, std::source_location where) {
    auto const bytes_of = [&](unsigned halvings) {
      return kernels::bytes_of(run.locals, halvings);
    };
    run_.size = run.size;
    run_.owners = run.owners;
    run_.locals = run.locals;
    run_.window_halvings = cell_run::fitting(most_bytes, bytes_of);
    if (bytes_of(run_.window_halvings) > most_bytes) return false;
    kernels_.plan(run_, where);
    return true;
  }
  /// Enqueues a run of the messages of `run` for rank `to`, on cells that are zero. Throws
  /// cuda_error.
  void enqueue(run_arguments<run_type> const& run, std::uint32_t to, cell* cells, stream_ref s,
               std::source_location where) {
    run_arguments<cell_run> on_cells{run_, run.number};
    on_cells.ref.records = cells;
    on_cells.ref.report = run.ref.report;
    on_cells.ref.bits = run.ref.bits;
    on_cells.ref.rank = to;
    on_cells.ref.log = run.ref.log;
    // Nothing leaves by this launch: if a later one fails, the log still has all sections.
    run_stage stage = run_stage::sorted;
    kernels_.enqueue(on_cells, stage, s, where);
  }

 private:
  using cell_run = run_ref<policy, cell, section>;
  using kernels = placed_kernels<Where, policy, cell, section>;
  static_assert(std::is_same_v<typename cell_run::log_type, typename run_type::log_type> &&
                    cell_run::formats::two_widths == run_type::formats::two_widths &&
                    cell_run::formats::places == run_type::formats::places,
                "a run on cells reads the messages of the log");

  cell_run run_{};
  kernels kernels_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
