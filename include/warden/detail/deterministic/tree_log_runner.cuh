// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs logs whose sections are combined in trees.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/flat_sort.cuh>
#include <warden/detail/deferred/log_order.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deterministic/log_sections.cuh>
#include <warden/detail/deterministic/tree_memory.cuh>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The kernels between a log's close and its opening, for sections that a fixed tree combines. The
/// log has one partition. If it has an order, it is that of order::sequential.
template <class Policy, class Record, class Section>
class tree_log_runner<Policy, Record, Section> {
  using run_type = run_ref<Policy, Record, Section>;

 public:
  /// Runs the logs of a guarded array.
  explicit tree_log_runner(guarded_state<Policy, Record, Section> const&) {}

  /// True: nothing depends on the shared memory.
  static bool fits(std::uint64_t, deferred_options const&) { return true; }
  /// Returns the only partition, of one device or of one rank.
  template <class... Usual>
  partition_map plan_partitions(run_type& run, deferred_options const&, std::size_t,
                                Usual const&...) {
    records_ = static_cast<std::uint32_t>(run.size);
    return run.owners = log_plan<run_type>::partitions(run.size, 1);
  }
  /// Returns the only number of partitions.
  static std::uint32_t usual_partitions(run_type const&, std::size_t, std::uint32_t,
                                        std::source_location) {
    return 1;
  }
  /// Makes the memory that sorts and runs a planned log. Throws cuda_error.
  void make(run_type& run, std::source_location where) {
    make_sorter(run.log, where);
    make_split(run.log, run.owners, where);
  }
  /// Makes the memory that finds the order of the log, or sorts its flat messages.
  void make_sorter(typename run_type::log_type& log, std::source_location where) {
    if constexpr (run_type::in_order) {
      sorter_.make(log, where);
    } else {
      sorter_.plan(log, where);
    }
  }
  /// Makes the memory that runs logs no larger than `log`. They have one partition, so there is
  /// none to split.
  void make_split(typename run_type::log_type const& log, partition_map const&,
                  std::source_location where) {
    befores_ = buffer<std::uint32_t>{log.rows, where};
    places_ = buffer<std::uint32_t>{log.size, where};
    if constexpr (log_sections<run_type>::lists_ids)
      locals_ = buffer<std::uint32_t>{log.size, where};
    count_ = buffer<std::uint32_t>{1, where};
    memory_.emplace(log.size, records_, where);
  }
  /// Enqueues the execution of a closed log. `stage` tells how much is enqueued, also if the call
  /// throws. Throws cuda_error.
  void enqueue(run_arguments<run_type> const& run, run_stage& stage, stream_ref s,
               std::source_location where) {
    sort(run, false, stage, s, where);
    execute(run, stage, s, where);
  }
  /// Enqueues the search for the order of a log, or the sort of its flat messages.
  void sort(run_arguments<run_type> const& run, bool, run_stage& stage, stream_ref s,
            std::source_location where) {
    if constexpr (run_type::in_order) {
      sorter_.find(run, s, where);
    } else {
      sorter_.enqueue(run, false, s, where);
    }
    stage = run_stage::sorted;
  }
  /// Enqueues the execution of a log whose order is known.
  void execute(run_arguments<run_type> const& run, run_stage& stage, stream_ref s,
               std::source_location where) {
    place_arguments<run_type> argument{run, befores_.data(), places_.data(), locals_.data(),
                                       count_.data()};
    void* arguments[] = {&argument};
    runtime::launch(
        simt::make_kernel(&add_up_batches<run_type>),
        runtime::early_launch(1, adding_threads,
                              sizeof(simt::block_scan_by_warps<adding_threads>::storage)),
        arguments, s, where);
    constexpr unsigned threads = 256;
    unsigned const blocks =
        std::min((run.ref.log.rows - 1) / (threads / simt::warp_size) + 1, 4096u);
    runtime::launch(simt::make_kernel(&list_places<run_type>),
                    runtime::early_launch(blocks, threads, 0), arguments, s, where);
    tree_records<Record, typename Policy::context> const on{
        run.ref.records, run.ref.size, run.ref.sections_context, run.ref.report};
    stage = run_stage::begun;
    memory_->run(on,
                 log_sections<run_type>{log_sections<run_type>::messages_type::of(run.ref.log),
                                        places_.data(), locals_.data(), count_.data(), run.ref},
                 0, run.ref.log.size, s, where);
  }

  /// Returns null: no launch replays the log.
  [[nodiscard]] static launch_control* launch() { return nullptr; }
  /// Returns the device memory of the runner. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sorter = 0;
    if constexpr (run_type::in_order) sorter = sorter_.bytes();
    return sorter + befores_.bytes() + places_.bytes() + locals_.bytes() + count_.bytes() +
           memory_->bytes();
  }

 private:
  /// As in log_runner.
  std::conditional_t<run_type::in_order, log_order<run_type>, flat_sort<run_type>> sorter_;
  buffer<std::uint32_t> befores_, places_, locals_, count_;
  std::optional<tree_memory<Section>> memory_;
  std::uint32_t records_ = 0;  ///< records of this device
};

}  // namespace detail
WARDEN_NAMESPACE_END
