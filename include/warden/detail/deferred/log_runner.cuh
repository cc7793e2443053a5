// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a run whose sections send no sections: blocks run partition after partition, as
/// many at once as are resident together.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_kernels.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/flat_sort.cuh>
#include <warden/detail/deferred/log_order.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/log_split.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The kernels between a log's close and its opening, and their plan.
template <class Policy, class Record, class... Sections>
class log_runner {
  using run_type = run_ref<Policy, Record, Sections...>;
  static_assert(
      requires { typename run_type::executor::template deferred_server<run_type>; },
      "warden: a log is run by the executor sorted, locks or atomics");
  static_assert(
      !run_type::in_order || requires { run_type::executor::keeps_order; },
      "warden: order::sequential needs the executor sorted");

 public:
  /// Runs the logs of `of`.
  explicit log_runner(guarded_state<Policy, Record, Sections...> const& of)
      : device_{of.device()} {}

  /// True if a block of the current device has the shared memory to run a partition of `records`
  /// with the finest partitions that may be chosen. Throws cuda_error.
  static bool fits(std::uint64_t records, deferred_options const& chosen) {
    constexpr std::uint32_t most = most_partitions;
    std::uint32_t const partitions = chosen.partitions != 0 ? chosen.partitions : most;
    std::uint32_t const split = !splits ? 1 : chosen.split != 0 ? chosen.split : most;
    auto const owners = log_plan<run_type>::partitions(records, partitions * split);
    auto const facts = runtime::facts(runtime::current_device());
    return bytes_of(owners.locals(records), halvings_for(facts)) <= facts.shared_bytes_per_block;
  }

  /// True if logs can be split. A split would have to write batches of both widths, which it
  /// cannot.
  static constexpr bool splits = !run_type::formats::two_widths;
  /// Returns the number of partitions with which all blocks have work; more are chosen if they do
  /// not fit the chip. Throws cuda_error.
  [[nodiscard]] std::uint32_t usual_partitions(std::source_location where) const {
    // Sections wait for records in memory: more threads at once have more loads in flight.
    constexpr std::uint32_t blocks_each = on_chip ? 1 : 2;
    // At most as many partitions as blocks at once: sections of all partitions then write other
    // memory than their records in one sweep.
    auto const multiprocessors =
        static_cast<std::uint32_t>(runtime::facts(device_, where).multiprocessors);
    return std::clamp<std::uint32_t>(std::bit_floor(multiprocessors) * blocks_each, 1,
                                     most_partitions);
  }
  /// Returns the usual number of partitions for one of `ranks` that share the partitions of a log.
  /// Each rank has about as many records as `run`. Segments are longer if the ranks together have
  /// no more partitions than one device. But each multiprocessor needs a partition. And if the
  /// first-level cache does not hold the records of one, sections that do not combine wait for
  /// them, so more blocks are faster (measured: docs/tuning-notes.md). Throws cuda_error.
  [[nodiscard]] std::uint32_t usual_partitions(run_type const& run, std::size_t sections,
                                               std::uint32_t ranks,
                                               std::source_location where) const {
    auto const facts = runtime::facts(device_, where);
    std::uint32_t const usual = usual_partitions(where), mine = usual / ranks;
    if (mine < std::bit_floor(static_cast<std::uint32_t>(facts.multiprocessors))) return usual;
    std::size_t const bytes = run.size * sizeof(Record) / mine;
    return on_chip || two_widths || bytes <= facts.shared_bytes_per_block ||
                   has_many(run, sections, facts)
               ? mine
               : usual;
  }

  /// Chooses the partitions of a log for `sections`, unless the user has, and the number of blocks
  /// that run them. Returns the partitions by which the log is sorted, which are fewer if it is
  /// split. Throws limit_error if they do not fit the chip.
  partition_map plan_partitions(run_type& run, deferred_options const& chosen, std::size_t sections,
                                std::source_location where) {
    return plan_partitions(run, chosen, sections, most_partitions, usual_partitions(where), where);
  }
  /// Plans a log that is sorted by `usual` partitions, or by up to `most` if the records need more.
  partition_map plan_partitions(run_type& run, deferred_options const& chosen, std::size_t sections,
                                std::uint32_t most, std::uint32_t usual,
                                std::source_location where) {
    auto const facts = runtime::facts(device_, where);
    std::uint32_t partitions = chosen.partitions != 0 ? chosen.partitions : std::min(usual, most);
    std::uint32_t split = std::max(1u, chosen.split);
    // Splits the log if it has fewer partitions than make all blocks work.
    if (splits && chosen.partitions == 0 && chosen.split == 0) split = usual / partitions;
    if (!splits && split != 1) {
      throw limit_error{"deferred: a split by " + std::to_string(split) +
                            "; a log of sections that combine to wider partials is not split: "
                            "leave the option split 0",
                        where};
    }
    constexpr std::uint32_t most_split = most_partitions;
    run.window_halvings = halvings_for(facts);
    log_plan<run_type>::check_block(bytes_of(0, run.window_halvings), facts.shared_bytes_per_block,
                                    where);
    auto const plan = [&] {
      run.owners = log_plan<run_type>::partitions(run.size, partitions * split);
      run.locals = static_cast<std::uint32_t>(run.owners.locals(run.size));
      run_bytes_ = bytes_of(run.locals, run.window_halvings);
      return run_bytes_ <= facts.shared_bytes_per_block;
    };
    while (!plan()) {
      bool const has_more = std::uint64_t{partitions} * split < run.size;
      if (has_more && chosen.partitions == 0 && split <= 1 && partitions < most) {
        partitions *= 2;
      } else if (splits && has_more && chosen.split == 0 && split < most_split) {
        split *= 2;
      } else {
        throw limit_error{
            "deferred: " + std::to_string(run.size) + " records of " +
                std::to_string(sizeof(Record)) + " bytes in " + std::to_string(partitions * split) +
                " partitions do not fit the chip: one needs " + std::to_string(run_bytes_) +
                " bytes of shared memory; the device has " +
                std::to_string(facts.shared_bytes_per_block) + ": keep them in memory",
            where};
      }
    }
    // A log that is split in any case is sorted by few partitions, which takes less time.
    if (chosen.partitions == 0 && chosen.split == 0) {
      for (; split > 1 && split < most_split && partitions > usual; partitions /= 2) split *= 2;
    }
    run_blocks_ = resident(run_kernel_, run_bytes_, where);
    if constexpr (two_widths)
      run_blocks_ = std::min(run_blocks_, resident(partials_kernel_, run_bytes_, where));
    // A first-level cache then holds the records of a partition.
    constexpr std::size_t cached = std::size_t{32} << 10;
    std::size_t const bytes = run.size * sizeof(Record);
    if (chosen.split == 0 && has_many(run, sections, facts)) {
      while (split < most_split && bytes / (partitions * split) > cached) split *= 2;
      plan();
    }
    run_blocks_ = std::min(run_blocks_, partitions * split);
    return run.owners.coarser(partitions);
  }
  /// Makes the memory that sorts, splits and traces a planned log. Throws cuda_error.
  void make(run_type& run, std::source_location where) {
    traces_ = buffer<partition_trace>{run.owners.partitions(), where};
    run.traces = traces_.data();
    make_split(run.log, run.owners, run.owners.within(run.log.partitions.partitions()), where);
    make_sorter(run.log, where);
  }
  /// Makes the memory that sorts the log.
  void make_sorter(typename run_type::log_type& log, std::source_location where) {
    if constexpr (run_type::in_order) {
      sorter_.make(log, where);
    } else {
      sorter_.plan(log, where);
    }
  }
  /// Makes the memory that splits logs no larger than `log`, by `within`, if their partitions are
  /// not those of `owners`.
  void make_split(typename run_type::log_type const& log, partition_map const& owners,
                  partition_map within, std::source_location where) {
    if constexpr (splits) {
      if (log.partitions.partitions() != owners.partitions()) split_.make(log, within, where);
    }
  }

  /// Enqueues the execution of a closed log. `stage` tells how much is enqueued, also if the call
  /// throws. Throws cuda_error.
  void enqueue(run_arguments<run_type> run, run_stage& stage, stream_ref s,
               std::source_location where) {
    sort(run, stage, s, where);
    execute(run, stage, s, where);
  }
  /// Enqueues the sort of a closed log. Each message is in a batch then.
  void sort(run_arguments<run_type> const& run, run_stage& stage, stream_ref s,
            std::source_location where) {
    if constexpr (run_type::in_order) {
      sorter_.find(run, s, where);
    } else {
      sorter_.enqueue(run, s, where);
    }
    stage = run_stage::sorted;
  }
  /// Enqueues the execution of a sorted log.
  void execute(run_arguments<run_type> run, run_stage& stage, stream_ref s,
               std::source_location where) {
    if constexpr (splits) {
      if (split_.is_made()) run = split_.enqueue(run, s, where);
    }
    void* arguments[] = {&run};
    auto const shape = runtime::early_launch(run_blocks_, threads, run_bytes_);
    runtime::launch(run_kernel_, shape, arguments, s, where);
    stage = run_stage::begun;
    if constexpr (two_widths) runtime::launch(partials_kernel_, shape, arguments, s, where);
  }

  /// Returns null: no launch replays the log.
  [[nodiscard]] static launch_control* launch() { return nullptr; }
  /// Returns the traces of the partitions of the last run. Precondition: a log has run.
  [[nodiscard]] buffer<partition_trace> const& traces() const { return traces_; }
  /// Returns the device memory of the runner. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t const others = split_.bytes() + traces_.bytes();
    if constexpr (run_type::in_order) {
      return sorter_.bytes() + others;
    } else {
      return others;
    }
  }

 private:
  template <class Run>
  using server = typename run_type::executor::template deferred_server<Run>;
  static constexpr bool two_widths = run_type::formats::two_widths;
  struct no_split {
    static constexpr std::size_t bytes() { return 0; }
  };
  static constexpr bool on_chip = Policy::records == placement::on_chip;
  static constexpr unsigned threads = run_type::policy::block_threads;

  static runtime::kernel kernel_of_partials() {
    if constexpr (two_widths) {
      return simt::make_kernel(&run_partials<run_type>);
    } else {
      return {};
    }
  }
  /// Returns the shared memory of a block that runs a partition of `locals` records. Units: bytes.
  static std::size_t bytes_of(std::uint64_t locals, unsigned halvings) {
    return std::max(server<run_type>::shared_bytes(locals, halvings),
                    server<typename run_type::partials>::shared_bytes(locals, halvings));
  }
  /// Returns the halvings after which a window fits a block; records on chip get at least a quarter
  /// of the memory. Returns the largest number if no window fits.
  static unsigned halvings_for(runtime::device_facts const& facts) {
    std::size_t const room = facts.shared_bytes_per_block / 4 * (on_chip ? 3 : 4);
    return run_type::fitting(room, [](unsigned halvings) { return bytes_of(0, halvings); });
  }
  /// True if the log is split because the level-2 cache does not hold the records, and enough
  /// sections run on them.
  static bool has_many(run_type const& run, std::size_t sections,
                       runtime::device_facts const& facts) {
    return splits && !on_chip && run.size * sizeof(Record) > facts.cache_bytes &&
           sections >= run.size / 8;
  }
  static unsigned resident(runtime::kernel const& kernel, std::size_t shared_bytes,
                           std::source_location where) {
    return static_cast<unsigned>(runtime::resident_blocks(kernel, threads, shared_bytes, where));
  }

  int device_;
  unsigned run_blocks_ = 0;
  std::size_t run_bytes_ = 0;
  // Stored, as in flat_sort.
  runtime::kernel run_kernel_ = simt::make_kernel(&run_log<run_type>);
  runtime::kernel partials_kernel_ = kernel_of_partials();
  /// Sorts rows if sections run in order: such a log has no flat messages.
  std::conditional_t<run_type::in_order, log_order<run_type>, flat_sort<run_type>> sorter_;
  std::conditional_t<splits, log_split<run_type>, no_split> split_;
  buffer<partition_trace> traces_;  ///< [partition], empty if the runner runs parts of logs
};

}  // namespace detail
WARDEN_NAMESPACE_END
