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
#include <warden/detail/deferred/placed_kernels.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/run_trace.cuh>
#include <warden/detail/execute/guarded_state.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>
#include <warden/tuning_table.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
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
  /// Runs the logs of `of`. Throws as current_tuning.
  explicit log_runner(guarded_state<Policy, Record, Sections...> const& of)
      : device_{of.device()}, tuning_{current_tuning(of.device())} {}

  /// True if a block of the current device has the shared memory to run a partition of `records`
  /// with the finest partitions that may be chosen. Throws cuda_error.
  static bool fits(std::uint64_t records, deferred_options const& chosen) {
    constexpr std::uint32_t most = most_partitions;
    std::uint32_t const partitions = chosen.partitions != 0 ? chosen.partitions : most;
    std::uint32_t const split = !splits ? 1 : chosen.split != 0 ? chosen.split : most;
    auto const owners = log_plan<run_type>::partitions(records, partitions * split);
    auto const facts = runtime::facts(runtime::current_device());
    return bytes_of(always, owners.locals(records), halvings_for(always, facts)) <=
           facts.shared_bytes_per_block;
  }

  /// True if logs can be split. A split would have to write batches of both widths, which it
  /// cannot.
  static constexpr bool splits = !run_type::formats::two_widths;
  /// Returns the usual number of partitions for one of `ranks` that share the partitions of a log.
  /// Each rank has about as many records as `run`. Segments are longer if the ranks together have
  /// no more partitions than one device. But each multiprocessor needs a partition. And if the
  /// first-level cache does not hold the records of one, sections that do not combine wait for
  /// them, so more blocks are faster (measured: docs/tuning-notes.md). Throws cuda_error.
  [[nodiscard]] std::uint32_t usual_partitions(run_type const& run, std::size_t sections,
                                               std::uint32_t ranks,
                                               std::source_location where) const {
    auto const facts = runtime::facts(device_, where);
    std::uint32_t const usual = usual_partitions(always, max_sections, facts);
    std::uint32_t const mine = usual / ranks;
    if (mine < std::bit_floor(static_cast<std::uint32_t>(facts.multiprocessors))) return usual;
    std::size_t const bytes = run.size * sizeof(Record) / mine;
    return always == placement::on_chip || two_widths || bytes <= facts.shared_bytes_per_block ||
                   has_many(always, run, sections, facts)
               ? mine
               : usual;
  }

  /// Chooses the partitions of a log for `sections`, unless the user has, and the number of blocks
  /// that run them. Returns the partitions by which the log is sorted, which are fewer if it is
  /// split. Throws limit_error if they do not fit the chip.
  partition_map plan_partitions(run_type& run, deferred_options const& chosen, std::size_t sections,
                                std::source_location where) {
    auto const facts = runtime::facts(device_, where);
    if constexpr (chooses) {
      partition_plan const p =
          planned(placement::on_chip, run, chosen, most_partitions,
                  usual_partitions(placement::on_chip, sections, facts), facts);
      if (p.fits) choose(p, run, facts);
      // A log with little room has no use for as many partitions as fit the chip.
      if (p.fits && sections >= (p.split == 1 ? chip_from_ : split_from_))
        return use(p, run, chosen, sections, facts, where);
      chip_from_ = max_sections;
      split_from_ = 0;
    }
    return plan_partitions(run, chosen, sections, most_partitions,
                           usual_partitions(always, sections, facts), where);
  }
  /// Plans a log that is sorted by `usual` partitions, or by up to `most` if the records need more.
  partition_map plan_partitions(run_type& run, deferred_options const& chosen, std::size_t sections,
                                std::uint32_t most, std::uint32_t usual,
                                std::source_location where) {
    auto const facts = runtime::facts(device_, where);
    if (!splits && chosen.split > 1) {
      throw_limit_error(
          "deferred: a split by %; a log of sections that combine to wider partials is not split: "
          "leave the option split 0",
          {chosen.split}, where);
    }
    log_plan<run_type>::check_block(bytes_of(always, 0, halvings_for(always, facts)),
                                    facts.shared_bytes_per_block, where);
    partition_plan const p = planned(always, run, chosen, most, usual, facts);
    if (!p.fits) {
      throw_limit_error(
          "deferred: % records of % bytes in % partitions do not fit the chip: one needs % bytes "
          "of shared memory; the device has %: keep them in memory",
          {run.size, sizeof(Record), p.partitions * p.split, p.bytes, facts.shared_bytes_per_block},
          where);
    }
    return use(p, run, chosen, sections, facts, where);
  }
  /// Makes the memory that sorts, splits and traces a planned log. Throws cuda_error.
  void make(run_type& run, std::source_location where) {
    traces_ = buffer<partition_trace>{run.owners.partitions(), where};
    run.traces = traces_.data();
    make_split(run.log, run.owners.within(run.log.partitions.partitions()), where);
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
  /// Makes the memory that splits logs no larger than `log`, if `within` has several partitions.
  void make_split(typename run_type::log_type const& log, partition_map within,
                  std::source_location where) {
    if constexpr (splits) {
      if (within.partitions() != 1) split_.make(log, within, where);
    }
  }

  /// The last block of a run opens the log.
  static constexpr bool opens_log = true;
  /// True if `enqueue` closes the log.
  [[nodiscard]] bool closes_log() const {
    if constexpr (run_type::in_order) {
      return false;
    } else {
      return sorter_.has_one_tile();
    }
  }
  /// Enqueues the execution of a log, and its opening; also its close, if `closes_log`. `stage`
  /// tells how much is enqueued, also if the call throws. Throws cuda_error.
  void enqueue(run_arguments<run_type> run, run_stage& stage, stream_ref s,
               std::source_location where) {
    sort(run, closes_log(), stage, s, where);
    run.opened = run.ref.log;
    execute(run, stage, s, where);
  }
  /// Enqueues the sort of a log, and before that its close, if it `closes` the log. Each message is
  /// in a batch then.
  void sort(run_arguments<run_type> const& run, [[maybe_unused]] bool closes, run_stage& stage,
            stream_ref s, std::source_location where) {
    if constexpr (run_type::in_order) {
      sorter_.find(run, s, where);
    } else {
      sorter_.enqueue(run, closes, s, where);
    }
    stage = run_stage::sorted;
  }
  /// Enqueues the split of a sorted log, if the owners have finer partitions and the log is not
  /// split yet. Returns the arguments of the run in its place.
  run_arguments<run_type> split(run_arguments<run_type> run, [[maybe_unused]] stream_ref s,
                                [[maybe_unused]] std::source_location where) {
    if constexpr (splits) {
      if (!split_.is_made() || run.ref.log.rows_of != nullptr) return run;
      run.least = split_from_;
      return split_.enqueue(run, s, where);
    } else {
      return run;
    }
  }
  /// Enqueues the execution of a sorted log. Exactly one of the kernels for different numbers of
  /// sections has work, and opens `run.opened`.
  void execute(run_arguments<run_type> const& run, run_stage& stage, stream_ref s,
               std::source_location where) {
    run_arguments<run_type> const fine = split(run, s, where);
    if constexpr (chooses) {
      if (chip_from_ != 0) {
        // Partitions are split on chip only, or if a run has many sections.
        run_arguments<run_type> coarse = run;
        coarse.ref.owners = run.ref.log.partitions;
        coarse.ref.locals = static_cast<std::uint32_t>(coarse.ref.owners.locals(coarse.ref.size));
        enqueue_between(in_memory_, coarse, 0, split_from_, stage, s, where);
        enqueue_between(in_memory_, fine, split_from_, chip_from_, stage, s, where);
      }
      return enqueue_between(on_chip_, fine, chip_from_, max_sections, stage, s, where);
    } else {
      kernels<always>().enqueue(fine, stage, s, where);
    }
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
  static constexpr bool two_widths = run_type::formats::two_widths;
  struct nothing {
    static constexpr std::size_t bytes() { return 0; }
  };
  /// True if each run chooses where the records are. Lanes that run a section together load a
  /// record with one access, so they gain nothing by records on chip (results of wide_records).
  static constexpr bool chooses = Policy::records == placement::automatic && !is_spread<Policy> &&
                                  run_type::group_size == 1 && alignof(Record) <= arena_alignment;
  /// Place of the records if no run chooses.
  static constexpr placement always =
      Policy::records == placement::on_chip ? placement::on_chip : placement::in_memory;
  template <placement Where>
  static constexpr bool may_be = chooses || always == Where;
  template <placement Where>
  using kernels_at = placed_kernels<Where, Policy, Record, Sections...>;
  static constexpr std::uint32_t max_sections = ~0u;

  template <placement Where>
  auto& kernels() {
    if constexpr (Where == placement::on_chip) {
      return on_chip_;
    } else {
      return in_memory_;
    }
  }
  /// Returns the shared memory of a block that runs a partition of `locals` records. Units: bytes.
  static std::size_t bytes_of(placement at, std::uint64_t locals, unsigned halvings) {
    if constexpr (may_be<placement::on_chip>) {
      if (at == placement::on_chip)
        return kernels_at<placement::on_chip>::bytes_of(locals, halvings);
    }
    return kernels_at<always>::bytes_of(locals, halvings);
  }
  /// Returns the number of partitions with which all blocks have work; more are chosen if they do
  /// not fit the chip.
  [[nodiscard]] std::uint32_t usual_partitions(placement at, std::size_t sections,
                                               runtime::device_facts const& facts) const {
    // If each multiprocessor's threads hold all its sections, a second partition would only wait
    // for the first.
    bool const are_few = sections <= std::size_t{run_type::policy::block_threads} *
                                         static_cast<std::size_t>(facts.multiprocessors);
    // Sections wait for records in memory: more threads at once have more loads in flight.
    std::uint32_t const blocks_each =
        at == placement::on_chip || are_few ? 1 : tuning_.partitions_in_memory;
    // At most as many partitions as blocks at once: sections of all partitions then write other
    // memory than their records in one sweep.
    auto const multiprocessors = static_cast<std::uint32_t>(facts.multiprocessors);
    return std::clamp<std::uint32_t>(std::bit_floor(multiprocessors * blocks_each), 1,
                                     most_partitions);
  }
  /// Returns the halvings after which a window fits a block; records on chip get at least a quarter
  /// of the memory. Returns the largest number if no window fits.
  static unsigned halvings_for(placement at, runtime::device_facts const& facts) {
    std::size_t const room = facts.shared_bytes_per_block / 4 * (at == placement::on_chip ? 3 : 4);
    return run_type::fitting(room, [&](unsigned halvings) { return bytes_of(at, 0, halvings); });
  }
  /// True if the log is split because the level-2 cache does not hold the records, and enough
  /// sections run on them.
  [[nodiscard]] bool has_many(placement at, run_type const& run, std::size_t sections,
                              runtime::device_facts const& facts) const {
    return splits && at == placement::in_memory && run.size * sizeof(Record) > facts.cache_bytes &&
           sections >= sections_that_split(run);
  }
  /// Returns the least number of sections for which a split takes less time than it saves.
  [[nodiscard]] std::uint64_t sections_that_split(run_type const& run) const {
    return run.size / tuning_.records_per_split_section;
  }

  /// Partitions of a log, and how they are run.
  struct partition_plan {
    placement at;
    std::uint32_t partitions;  ///< by which the log is sorted
    std::uint32_t split;       ///< parts of each partition in a run
    unsigned halvings;         ///< halvings of the window
    std::size_t bytes;         ///< shared memory of a block
    bool fits;                 ///< true if a block can have that
  };
  static partition_plan planned(placement at, run_type const& run, deferred_options const& chosen,
                                std::uint32_t most, std::uint32_t usual,
                                runtime::device_facts const& facts) {
    partition_plan p{at,
                     chosen.partitions != 0 ? chosen.partitions : std::min(usual, most),
                     std::max(1u, chosen.split),
                     halvings_for(at, facts),
                     0,
                     false};
    // Splits the log if it has fewer partitions than make all blocks work.
    if (splits && chosen.partitions == 0 && chosen.split == 0) p.split = usual / p.partitions;
    constexpr std::uint32_t most_split = most_partitions;
    while (true) {
      auto const owners = log_plan<run_type>::partitions(run.size, p.partitions * p.split);
      p.bytes = bytes_of(at, owners.locals(run.size), p.halvings);
      p.fits = p.bytes <= facts.shared_bytes_per_block;
      bool const has_more = std::uint64_t{p.partitions} * p.split < run.size;
      if (p.fits || !has_more) break;
      if (chosen.partitions == 0 && p.split <= 1 && p.partitions < most) {
        p.partitions *= 2;
      } else if (splits && chosen.split == 0 && p.split < most_split) {
        p.split *= 2;
      } else {
        break;
      }
    }
    // A log that is split in any case is sorted by few partitions, which takes less time.
    if (chosen.partitions == 0 && chosen.split == 0) {
      for (; p.split > 1 && p.split < most_split && p.partitions > usual; p.partitions /= 2)
        p.split *= 2;
    }
    return p;
  }
  /// Plans the run by a plan that fits. Returns the partitions by which the log is sorted.
  partition_map use(partition_plan p, run_type& run, deferred_options const& chosen,
                    std::size_t sections, runtime::device_facts const& facts,
                    std::source_location where) {
    run.window_halvings = p.halvings;
    std::size_t const bytes = run.size * sizeof(Record);
    if (chosen.split == 0 && has_many(p.at, run, sections, facts)) {
      // A first-level cache then holds the records of a partition.
      while (p.split < most_partitions &&
             bytes / (p.partitions * p.split) > tuning_.split_part_bytes)
        p.split *= 2;
    }
    run.owners = log_plan<run_type>::partitions(run.size, p.partitions * p.split);
    run.locals = static_cast<std::uint32_t>(run.owners.locals(run.size));
    if constexpr (may_be<placement::in_memory>) in_memory_.plan(run, where);
    if constexpr (may_be<placement::on_chip>) {
      if (p.at == placement::on_chip) on_chip_.plan(run, where);
    }
    return run.owners.coarser(p.partitions);
  }
  /// Chooses the numbers of sections with which records are on chip, and partitions are split.
  void choose(partition_plan const& p, run_type const& run, runtime::device_facts const& facts) {
    std::size_t const bytes = run.size * sizeof(Record);
    // Moving so few records to the chip takes no longer than the launch of a second kernel.
    bool const are_few = bytes <= std::size_t{tuning_.on_chip_bytes} *
                                      static_cast<std::size_t>(facts.multiprocessors);
    // A section on a record in memory moves sectors there and back. Records on chip are all moved,
    // once.
    std::size_t const dense = are_few ? 0 : bytes / tuning_.record_bytes_per_section + 1;
    chip_from_ = static_cast<std::uint32_t>(std::min<std::size_t>(dense, max_sections));
    split_from_ = p.split == 1 ? 0
                               : static_cast<std::uint32_t>(
                                     std::min<std::uint64_t>(chip_from_, sections_that_split(run)));
  }
  /// Enqueues kernels that run logs of `least` to `end` - 1 sections, if the log can have as many.
  template <class Kernels>
  static void enqueue_between(Kernels const& by, run_arguments<run_type> run, std::uint32_t least,
                              std::uint32_t end, run_stage& stage, stream_ref s,
                              std::source_location where) {
    if (least >= end || least > run.ref.log.size) return;
    run.least = least;
    run.most = end == max_sections ? end : end - 1;
    by.enqueue(run, stage, s, where);
  }

  int device_;
  tuning_table tuning_;
  std::conditional_t<may_be<placement::on_chip>, kernels_at<placement::on_chip>, nothing> on_chip_;
  std::conditional_t<may_be<placement::in_memory>, kernels_at<placement::in_memory>, nothing>
      in_memory_;
  /// Least number of sections in a run that splits partitions, and that has records on chip.
  std::uint32_t split_from_ = 0, chip_from_ = 0;
  /// Sorts rows if sections run in order: such a log has no flat messages.
  std::conditional_t<run_type::in_order, log_order<run_type>, flat_sort<run_type>> sorter_;
  std::conditional_t<splits, log_split<run_type>, nothing> split_;
  buffer<partition_trace> traces_;  ///< [partition], empty if the runner runs parts of logs
};

}  // namespace detail
WARDEN_NAMESPACE_END
