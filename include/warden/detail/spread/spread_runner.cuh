// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a log on records that are spread over ranks: sections on this rank's own records while the
/// others travel, then the arrived sections.
#pragma once

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/detail/deferred/deferred_log.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/log_runner.cuh>
#include <warden/detail/deferred/record_numbers.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/partition_map.cuh>
#include <warden/detail/spread/launch_blocks.cuh>
#include <warden/detail/spread/log_sender.cuh>
#include <warden/detail/spread/partial_cell.cuh>
#include <warden/detail/spread/partial_tables.cuh>
#include <warden/detail/spread/rank_channel.cuh>
#include <warden/detail/spread/run_timeline.cuh>
#include <warden/detail/spread/spread_exchange.cuh>
#include <warden/detail/spread/spread_kernels.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Thrown if some rank's records were in use: no rank runs its log.
struct put_off {};

/// Kernels and transfers between a log's close and its opening, on each rank.
template <class Policy, class Record, class... Sections>
class spread_runner {
  using run_type = run_ref<Policy, Record, Sections...>;
  using log_type = typename run_type::log_type;
  using message_type = typename run_type::message_type;
  using inner_runner =
      std::conditional_t<Policy::order::in_trees, tree_log_runner<Policy, Record, Sections...>,
                         log_runner<Policy, Record, Sections...>>;

 public:
  /// Constructs the runner of the logs of `array`, the share of this rank. All ranks together have
  /// `total` records.
  spread_runner(guarded_state<Policy, Record, Sections...> const& array, communicator const& world,
                std::uint64_t total, std::source_location where)
      : inner_{array},
        total_{total},
        counts_{world, exchange_table::words_each(ranks_of(world)), where},
        exchange_{world} {}

  /// Chooses the partitions of a rank, as a log_runner does, and the numbering of records. Returns
  /// the partitions of all ranks, rank by rank. Throws limit_error.
  partition_map plan_partitions(run_type& run, deferred_options const& chosen, std::size_t sections,
                                std::source_location where) {
    std::uint32_t const columns_of_ranks = std::bit_ceil(ranks());
    if (columns_of_ranks > most_partitions)
      refuse(std::to_string(ranks()) + " ranks; the limit is " + std::to_string(most_partitions),
             where);
    std::uint32_t const most = most_partitions / columns_of_ranks;
    if (chosen.partitions > most) {
      refuse(std::to_string(chosen.partitions) + " partitions; a log on the records of " +
                 std::to_string(ranks()) + " ranks has at most " + std::to_string(most) +
                 " for each",
             where);
    }
    room_ = chosen.room != 0 ? chosen.room : std::min(2 * sections, most_places);
    if (room_ > most_places)
      refuse("room for " + std::to_string(room_) + " sections; the limit is " +
                 std::to_string(most_places),
             where);
    columns_ = inner_.plan_partitions(
        run, chosen, sections, most,
        inner_.usual_partitions(run, sections, columns_of_ranks, where), where);
    std::uint32_t const chunk = columns_.chunk();
    run.bits.low = static_cast<std::uint32_t>(std::countr_zero(chunk * columns_.partitions()));
    run.bits.ranks_log2 = static_cast<std::uint32_t>(std::countr_zero(columns_of_ranks));
    run.rank = own();
    std::uint64_t const limit = std::min<std::uint64_t>(message_type::limit, 0xffffffff);
    if (run.bits.limit(run.size) >= limit) {
      refuse(std::to_string(run.size) + " records on each of " + std::to_string(ranks()) +
                 " ranks, which number " + std::to_string(run.bits.limit(run.size)) +
                 "; the limit with these sections is " + std::to_string(limit - 1),
             where);
    }
    return {columns_of_ranks * columns_.partitions(), chunk};
  }

  /// Allocates the memory of both directions. Called after the log was planned. Collective over the
  /// ranks. Throws limit_error if the ranks' logs differ, and cuda_error.
  void make(run_type& run, std::source_location where) {
    inner_.make_sorter(run.log, where);
    home_ = part_of(run.log, own());
    count_blocks_ = resident_blocks<run_type>(count_kernel_, ranks() * sizeof(std::uint32_t),
                                              run.log.rows, where);
    if constexpr (combines) table_places_ = tables_.plan(run, ranks(), most_places, where);
    agree(run, where);
    if (ranks() != 1) exchange_.make(run.log, columns_, rows_, rooms_, where);
    log_type largest = home_;
    log_type const& arrived_log = exchange_.arrived();
    largest.size = std::max(home_.size, arrived_log.size);
    largest.rows = std::max(home_.rows, arrived_log.rows);  // mutation: split-came
    if (table_places_ != 0) largest.partitions = run.log.partitions;
    std::uint32_t const parts = run.owners.partitions() / columns_.partitions();
    inner_.make_split(largest, {parts, 1u << run.bits.low << run.bits.ranks_log2}, where);
  }

  /// True if sections of a run may send sections: then the host must know if any section was run.
  static constexpr bool sends =
      (sending_section_of<Sections, Record, typename Policy::context> || ...);

  /// Returns the communicator of the ranks.
  [[nodiscard]] communicator const& world() const { return counts_.world(); }
  /// Enqueues the run of a closed log, and of the sections from other ranks. Collective over the
  /// ranks. Blocks the host until all ranks' counts are known. `stage` tells how much was enqueued,
  /// also if it throws. Throws limit_error, on all ranks, if some rank has too little room;
  /// put_off; communicator_error; cuda_error.
  void enqueue(run_arguments<run_type> run, run_stage& stage, stream_ref s,
               std::source_location where) {
    if (timeline_) timeline_->begin(s, where);
    if (ranks() != 1 || sends) count(run, s, where);
    inner_.sort(run, false, stage, s, where);
    note_end(run_phase::sort, s, where);
    if (ranks() == 1) {
      if constexpr (sends) gathered_counts(where);
      run.ref.log = home_;
      inner_.execute(run, stage, s, where);
      return note_end(run_phase::home, s, where);
    }
    exchange_table const counted = gathered_counts(where);
    note_end(run_phase::gather, s, where);
    bool const any = travels(counted);
    run_arguments<run_type> home = run;
    home.ref.log = home_;
    if (any) exchange(run, counted, home.ref.log, stage, s, where);
    if (!run_type::in_order && counted.places(own(), own()) != 0) {
      inner_.execute(home, stage, s, where);
      note_end(run_phase::home, s, where);
    }
    if (!any) return;
    s.wait_for(arrived_, where);  // mutation: came-early
    note_end(run_phase::arrive, s, where);
    if (counted.packed_before(ranks(), own()) == 0) return;
    exchange_.join(on_device(), run.number, s, where);
    note_end(run_phase::join, s, where);
    run.ref.log = exchange_.arrived();
    if constexpr (combines) {
      if (gets_tables(counted)) tables_.run_arrived(run, on_device(), own(), s, where);
    }
    if (counted.rows_before(ranks(), own()) != 0) inner_.execute(run, stage, s, where);
    note_end(run_phase::remote, s, where);
  }
  /// Makes each further run record when its phases end. Uses timers of the current device.
  void record_phases() { timeline_ = std::make_unique<run_timeline>(); }
  /// Returns the ends of the last run's phases. Precondition: `record_phases` was called before
  /// that run.
  [[nodiscard]] run_phase_ends phase_ends(std::source_location where) const {
    return timeline_->ends(where);
  }

  /// Returns null: no launch replays the log.
  [[nodiscard]] static launch_control* launch() { return nullptr; }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return inner_.bytes() + counts_.bytes() + exchange_.bytes() + tables_.bytes();
  }
  /// Returns true if any rank had sections in the last run. Valid with several ranks, or if
  /// sections send sections.
  [[nodiscard]] bool any_ran() const { return any_ran_; }

 private:
  /// Maximum of places, because of the bits of a row's begin.
  static constexpr std::size_t most_places = std::size_t{1} << 30;
  static std::uint32_t ranks_of(communicator const& world) {
    return static_cast<std::uint32_t>(world.size());
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_of(world()); }
  [[nodiscard]] std::uint32_t own() const { return static_cast<std::uint32_t>(world().rank()); }
  [[nodiscard]] std::uint32_t columns() const { return columns_.partitions(); }
  /// Returns the view of a log's messages for the records of one rank. The log may be split.
  [[nodiscard]] log_type part_of(log_type log, std::uint32_t rank) const {
    if (log.rows_of != nullptr) {
      log.rows_of += std::size_t{rank} * columns_.partitions();  // mutation: split-part
      log.coarse_log2 = static_cast<std::uint32_t>(std::countr_zero(columns_.partitions()));
      return log;
    }
    log.partitions = columns_;
    log.offsets += std::size_t{rank} * columns_.partitions() * log.rows;
    return log;
  }
  [[noreturn]] static void refuse(std::string const& reason, std::source_location where) {
    throw limit_error{"deferred: " + reason, where};
  }

  /// Checks that all ranks' logs agree, and gathers the sizes that may differ. Collective over the
  /// ranks.
  void agree(run_type const& run, std::source_location where) {
    constexpr std::uint32_t agreeing = 6, words = agreeing + 3;  ///< the last ones may differ
    std::array<std::uint32_t, words> const own_words{columns_.partitions(),
                                                     columns_.chunk(),
                                                     sizeof(message_type),
                                                     sizeof(Record),
                                                     static_cast<std::uint32_t>(total_ >> 32),
                                                     static_cast<std::uint32_t>(total_),
                                                     run.log.rows,
                                                     static_cast<std::uint32_t>(room_),
                                                     table_places_};
    static constexpr char const* names[agreeing] = {
        "partitions of a rank", "neighbouring records of a partition",
        "bytes of a message",   "bytes of a record",
        "2^32 records",         "records"};
    number_ = world().transport().next_log();
    rank_channel channel{world(), words, where};
    auto const all = channel.gather(own_words, where);
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      for (std::uint32_t w = 0; w < agreeing; ++w) {
        std::uint32_t const first = all[w], value = all[r * words + w];
        if (first == value) continue;
        refuse("rank " + std::to_string(r) + " has " + std::to_string(value) + " " + names[w] +
                   ", and rank 0 has " + std::to_string(first) +
                   ": all ranks make the same guarded array, and logs with the same partitions",
               where);
      }
      rows_.push_back(all[r * words + agreeing]);
      rooms_.push_back(all[r * words + agreeing + 1]);
      // If one rank has too little shared memory for tables, no rank sends them.
      bool const differs = all[r * words + agreeing + 2] != own_words.back();
      if (differs) table_places_ = 0;  // mutation: table-agreed
    }
  }

  /// Enqueues the count of this rank's messages for each rank.
  void count(run_arguments<run_type> const& run, stream_ref s, std::source_location where) {
    counts_.own().fill_bytes(0, s, where);
    count_arguments<run_type> argument{run, counts_.own().data(), ranks(), columns(), number_};
    launch_blocks<run_type>(count_kernel_, count_blocks_, ranks() * sizeof(std::uint32_t), argument,
                            s, where);
    note_end(run_phase::count, s, where);
    counts_.written(s, where);
  }
  /// Returns the counts of all ranks for all ranks. Blocks the host. Throws put_off, and
  /// limit_error if the ranks run different logs, or a rank has no room for all arriving messages.
  exchange_table gathered_counts(std::source_location where) {
    exchange_table const table = table_of(counts_.gather(where).data());
    any_ran_ = false;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      if (table.log(r) == 0) throw put_off{};
      for (std::uint32_t to = 0; to < ranks(); ++to)
        any_ran_ = any_ran_ || table.places(r, to) != 0;
    }
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      if (table.log(r) == number_) continue;
      throw_limit_error(
          "run: rank % runs log %, and rank % runs log %, counted from 1; the logs keep their "
          "sections, which did not run: call run of several logs in the same order on all ranks",
          {own(), number_, r, table.log(r)}, where);
    }
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      std::uint64_t arriving = 0;
      for (std::uint32_t from = 0; from < ranks(); ++from)
        arriving += table.packed(from, r);  // mutation: come-narrow
      if (arriving <= rooms_[r]) continue;
      throw_limit_error(
          "run: % sections would come to rank %, whose log has room for %; the logs keep their "
          "sections, which did not run: increase the option room",
          {arriving, r, rooms_[r]}, where);
    }
    return table;
  }
  [[nodiscard]] bool travels(exchange_table const& t) const {
    for (std::uint32_t from = 0; from < ranks(); ++from) {
      if (t.packed_below(from, ranks()) != 0) return true;
    }
    return false;
  }
  /// True if no messages of this rank travel.
  [[nodiscard]] bool sends_only_tables(exchange_table const& t) const {
    for (std::uint32_t to = 0; to < ranks(); ++to) {
      if (t.sends_rows(own(), to)) return false;
    }
    return true;
  }
  [[nodiscard]] bool gets_tables(exchange_table const& t) const {
    for (std::uint32_t from = 0; from < ranks(); ++from) {
      if (t.sends_table(from, own())) return true;
    }
    return false;
  }
  [[nodiscard]] exchange_table table_of(std::uint32_t const* words) const {
    return {words, ranks(), run_type::in_order, spread_exchange<run_type>::aligned, table_places_};
  }
  /// Returns the table for kernels.
  [[nodiscard]] exchange_table on_device() const { return table_of(counts_.all()); }

  /// Enqueues packing and transfer of this rank's messages for other ranks, in a stream of its own,
  /// and before the transfer the runs that fill this rank's tables. If these split the messages for
  /// this rank, too, `home` becomes their log.
  void exchange(run_arguments<run_type> const& run, exchange_table const& t, log_type& home,
                run_stage& stage, stream_ref s, std::source_location where) {
    stream_ref const exchange_stream = counts_.stream();
    sorted_.record(s, where);
    exchange_stream.wait_for(sorted_, where);
    exchange_.pack(run, t, on_device(), exchange_stream, where);
    note_end(run_phase::pack, exchange_stream, where);
    packed_.record(exchange_stream, where);
    // Sections that ran concurrently with the packing would start on multiprocessors that it leaves
    // free, and stay there after it has ended.
    s.wait_for(packed_, where);
    if constexpr (combines) combine(run, t, home, s, where);
    exchange_.send(t, exchange_stream, where);
    stage = run_stage::begun;
    note_end(run_phase::exchange, exchange_stream, where);
    arrived_.record(exchange_stream, where);
  }

  /// Enqueues the runs that fill this rank's tables. They are in the stream of the run, because
  /// they take all multiprocessors and the memory of the split, as the run of the home part does.
  /// `home` is that of `exchange`.
  void combine(run_arguments<run_type> const& run, exchange_table const& t, log_type& home,
               stream_ref s, std::source_location where) {
    log_type log = run.ref.log;
    bool any = false;
    for (std::uint32_t to = 0; to < ranks(); ++to) {
      if (!t.sends_table(own(), to)) continue;
      if (!any) {
        tables_.prepare(run, on_device(), own(), s, where);
        // A rank has hardly more multiprocessors than partitions, and with skewed ids one partition
        // may have 1.5 times the average. In one launch the blocks share those of all ranks.
        if (sends_only_tables(t)) log = inner_.split(run, s, where).ref.log;
        if (log.rows_of != nullptr) home = part_of(log, own());
      }
      any = true;
      run_arguments<run_type> part = run;
      part.ref.log = part_of(log, to);
      part.ref.log.control = tables_.control_of(to);  // mutation: table-counters
      tables_.fill(inner_.split(part, s, where), to, exchange_.table_for(t, to), s, where);
    }
    if (!any) return;
    note_end(run_phase::combine, s, where);
    combined_.record(s, where);
    counts_.stream().wait_for(combined_, where);  // mutation: tables-early
  }

  /// Notes that the phase ends with the work that `s` contains now. No effect unless phases are
  /// recorded.
  void note_end(run_phase phase, stream_ref s, std::source_location where) {
    if (timeline_) timeline_->end(phase, s, where);
  }

  /// True if sections for one record are combined before they travel, if that saves time.
  static constexpr bool combines = combines_for_ranks<Policy, Record, Sections...>;

  inner_runner inner_;
  std::uint64_t total_;       ///< records of all ranks
  std::uint32_t number_ = 0;  ///< the log's number, the same on all ranks
  std::size_t room_ = 0;
  partition_map columns_;                    ///< partitions of one rank
  std::vector<std::uint32_t> rows_, rooms_;  ///< [rank]
  bool any_ran_ = false;
  rank_channel counts_;
  spread_exchange<run_type> exchange_;
  typename partial_tables_of<combines, Policy, Record, Sections...>::type tables_;
  std::uint32_t table_places_ = 0;  ///< places of a table; 0 if no rank sends any
  event sorted_, packed_, combined_, arrived_;
  log_type home_{};                         ///< messages for this rank's own records
  std::unique_ptr<run_timeline> timeline_;  ///< null unless phases are recorded
  unsigned count_blocks_ = 0;
  runtime::kernel count_kernel_ = simt::make_kernel(&count_by_rank<run_type>);
};

}  // namespace detail
WARDEN_NAMESPACE_END
