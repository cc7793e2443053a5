// SPDX-License-Identifier: Apache-2.0
/// @file
/// Host side of a run in rounds, for logs with sections on two records: number of tiles, placement
/// of their records, and launches.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/flat_sort.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/pairs/rounds_kernels.cuh>
#include <warden/detail/pairs/rounds_tiles.cuh>
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
#include <source_location>
#include <string>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Kernels between a log's close and its opening, and their memory. `Run` is a run_pairs_ref or a
/// run_between_ref.
template <class Run>
class rounds_runner {
  using message_type = typename Run::message_type;
  using schedule = typename Run::schedule;
  static constexpr unsigned threads = Run::policy::block_threads;
  template <placement Where>
  using ref = rounds_ref<Run, Where>;
  using any_ref = ref<placement::in_memory>;
  using chip_ref = ref<placement::on_chip>;
  using bins = typename any_ref::bins_type;

 public:
  /// Constructs the runner for logs of `array`, or for logs whose sections have their first records
  /// in it.
  template <class Guarded>
  explicit rounds_runner(Guarded const& array)
      : device_{array.device()}, limit_{guarded_access::limit(array)} {}

  /// Returns null: no launch replays the log.
  [[nodiscard]] static launch_control* launch() { return nullptr; }
  /// Returns the size in device memory. Units: bytes.
  [[nodiscard]] std::size_t bytes() const {
    return pool_.bytes() + ranges_.bytes() + present_.bytes() + tile_pairs_.bytes() +
           progress_.bytes() + control_.bytes();
  }

  /// Chooses the tiles, unless the user did, and returns them. Throws limit_error if two tiles must
  /// be on chip and do not fit, if a block needs too much shared memory, also to list the pairs of
  /// tiles, and if tiles are to be split.
  partition_map plan_partitions(Run& run, deferred_options const& options, std::size_t sections,
                                std::source_location where) {
    if (options.split > 1) {
      throw_limit_error(
          "deferred: split %; with sections on two records a log is not split: leave it 0",
          {options.split}, where);
    }
    auto const facts = runtime::facts(device_, where);
    std::size_t const most_bytes = facts.shared_bytes_per_block;
    run.window_halvings = Run::fitting(most_bytes, [](unsigned halvings) {
      return std::max(single_block_run_of<any_ref>::shared_bytes({}, halvings),
                      rounds_server_of<any_ref>::shared_bytes({}, halvings));
    });
    auto arrays = arrays_of(run, options, sections, facts);
    // Returns false if there are too many tile pairs to list them.
    auto const plan = [&] {
      for (array_tiles const& one : arrays) {
        // Neighbours are in one tile, even if it has no other records. If many sections are on two
        // neighbours, that tile's pair with itself is long. All these pairs are in the first round,
        // so they run concurrently. Long pairs of different tiles are in different rounds, and
        // tiles that meet in between make them wait for each other.
        *one.owners = log_plan<Run>::partitions(one.records, one.tiles, one.record_bytes, 1);
        *one.locals = static_cast<std::uint32_t>(one.owners->locals(one.records));
      }
      on_chip_ = tile_pair_bytes<placement::on_chip>(run) <= most_bytes;
      return round_list<any_ref>::shared_bytes(schedule_of(run)) <= most_bytes;
    };
    // Tiles that the user did not choose are reduced if their tile pairs cannot be listed.
    bool lists = plan();
    while (!lists) {
      auto const most = std::max_element(
          arrays.begin(), arrays.end(),
          [](array_tiles const& a, array_tiles const& b) { return a.choosable() < b.choosable(); });
      if (most->choosable() < 2) break;
      most->tiles /= 2;
      lists = plan();
    }
    if (!lists) {
      throw limit_error{"deferred: a log of " + text_of(arrays) + " needs " +
                            std::to_string(round_list<any_ref>::shared_bytes(schedule_of(run))) +
                            " bytes of shared memory to list its tile pairs; the device has " +
                            std::to_string(most_bytes) + ": choose fewer partitions",
                        where};
    }
    while (!on_chip_) {
      // The array whose tiles take the most memory and can be smaller.
      auto const larger = std::max_element(
          arrays.begin(), arrays.end(),
          [](array_tiles const& a, array_tiles const& b) { return a.bytes() < b.bytes(); });
      if (larger->bytes() == 0) break;
      larger->tiles *= 2;
      if (plan()) continue;
      larger->tiles /= 2;
      plan();
      break;
    }
    if (!on_chip_ && Run::must_fit) {
      throw limit_error{"deferred: " + text_of(arrays) + " do not fit the chip: two need " +
                            std::to_string(tile_pair_bytes<placement::on_chip>(run)) +
                            " bytes of shared memory; the device has " +
                            std::to_string(most_bytes) + ": keep them in memory",
                        where};
    }
    log_plan<Run>::check_block(
        std::max(single_block_run_of<any_ref>::shared_bytes({}, run.window_halvings),
                 tile_pair_bytes<placement::in_memory>(run)),
        most_bytes, where);
    unsigned tiles = 0;
    for (array_tiles const& one : arrays) tiles += one.tiles;
    schedule const all = schedule_of(run);
    few_ = {simt::make_kernel(&run_few<any_ref>), 1,
            single_block_run_of<any_ref>::shared_bytes({}, run.window_halvings), where};
    fill_ = {simt::make_kernel(&fill_bins<any_ref>), run.owners.partitions(),
             bin_writer<any_ref>::shared_bytes(all.others()), where};
    list_ = {simt::make_kernel(&list_tile_pairs<any_ref>), 1,
             round_list<any_ref>::shared_bytes(all), where};
    if (on_chip_) {
      run_ = {simt::make_kernel(&run_tile_pairs<chip_ref>), tiles,
              tile_pair_bytes<placement::on_chip>(run), where};
    } else if constexpr (!Run::must_fit) {
      run_ = {simt::make_kernel(&run_tile_pairs<any_ref>), tiles,
              tile_pair_bytes<placement::in_memory>(run), where};
    }
    return run.owners;
  }
  /// Allocates memory for as many messages as the log has. Called after the log was planned. Throws
  /// cuda_error.
  void make(Run& run, std::source_location where) {
    sorter_.plan(run.log, where);
    schedule const all = schedule_of(run);
    pool_ = buffer<message_type>{run.log.size, where};
    ranges_ = buffer<bin_range>{std::size_t{all.homes()} * all.others(), where};
    std::size_t const words = bins::words(all.others());  // mutation: second-tiles
    present_ = buffer<std::uint32_t>{all.homes() * words, where};
    tile_pairs_ = buffer<scheduled_pair>{all.tile_pairs(), where};
    progress_ = buffer<tile_progress>{all.tiles(), where};
    control_ = buffer<rounds_control>{1, where};
    control_.fill_bytes(0, {}, where);
  }

  /// True if `enqueue` closes the log.
  [[nodiscard]] bool closes_log() const { return sorter_.has_one_tile(); }
  /// Enqueues the kernels before the opening of a log; also its close, if `closes_log`. `stage`
  /// tells how much was enqueued, also if it throws. Throws cuda_error.
  void enqueue(run_arguments<Run> const& given, run_stage& stage, stream_ref s,
               std::source_location where) const {
    sorter_.enqueue(given, closes_log(), s, where);
    stage = run_stage::sorted;
    launch_one(few_, in_one_tile(arguments<any_ref>(given)), s, where);
    stage = run_stage::begun;
    launch_one(fill_, arguments<any_ref>(given), s, where);
    launch_one(list_, arguments<any_ref>(given), s, where);
    if (on_chip_) {
      launch_one(run_, arguments<chip_ref>(given), s, where);
    } else if constexpr (!Run::must_fit) {
      launch_one(run_, arguments<any_ref>(given), s, where);
    }
  }

 private:
  /// Number of tiles of an array's records, and its limits.
  struct array_tiles {
    partition_map* owners;  ///< owner map of the run
    std::uint32_t* locals;  ///< records of a tile
    std::uint64_t records;
    std::size_t record_bytes;
    unsigned tiles;
    bool is_fixed;   ///< true if there may be no more tiles, even if two do not fit the chip
    bool is_chosen;  ///< true if the user chose the number

    /// Returns the bytes of a tile, or 0 if there may not be more tiles.
    [[nodiscard]] std::size_t bytes() const {
      return is_fixed || tiles == most_tiles ? 0 : *locals * record_bytes;
    }
    /// Returns the number of tiles if there may be fewer, otherwise 0.
    [[nodiscard]] unsigned choosable() const { return is_chosen ? 0 : tiles; }
  };
  static constexpr unsigned most_tiles = most_partitions;
  /// Returns a text of the arrays' records and tiles, for an error.
  template <class Arrays>
  static std::string text_of(Arrays const& arrays) {
    std::string all;
    for (array_tiles const& one : arrays) {
      all += (all.empty() ? "" : " and ") + std::to_string(one.records) + " records of " +
             std::to_string(one.record_bytes) + " bytes in " + std::to_string(one.tiles) + " tiles";
    }
    return all;
  }

  /// Returns the arrays of a run, with the number of tiles that the user or the device's properties
  /// choose.
  static auto arrays_of(Run& run, deferred_options const& options, std::size_t sections,
                        runtime::device_facts const& facts) {
    auto const array = [&]<class Record>(run_array<Record>& records, unsigned chosen,
                                         unsigned tiles) {
      return array_tiles{&records.owners,
                         &records.locals,
                         records.size,
                         sizeof(Record),
                         chosen != 0 ? chosen : std::min(tiles, most_tiles),
                         chosen != 0,
                         chosen != 0};
    };
    auto& first = static_cast<run_array<typename Run::record>&>(run);
    if constexpr (Run::two_arrays) {
      // One block for each tile pair of a round. If an array has few records, all sections of a
      // tile pair want the same ones, and twice as many tiles are faster.
      unsigned const blocks = std::bit_floor(static_cast<unsigned>(facts.multiprocessors));
      auto const usual = [&](std::uint64_t records) {
        return records < std::uint64_t{8} * blocks ? 2 * blocks : blocks;
      };
      unsigned const second =
          options.second_partitions != 0 ? options.second_partitions : options.partitions;
      return std::array{array(first, options.partitions, usual(first.size)),
                        array(run.second, second, usual(run.second.size))};
    } else {
      run.locals = 0;
      std::size_t const without_records = tile_pair_bytes<placement::on_chip>(run);
      std::size_t const for_records =
          facts.shared_bytes_per_block - std::min(facts.shared_bytes_per_block, without_records);
      rounds_load const load{sections, run.size, for_records / sizeof(typename Run::record),
                             threads, static_cast<unsigned>(facts.multiprocessors)};
      std::array arrays{array(first, options.partitions, rounds_tiles(load, most_tiles))};
      // The estimate includes the cost if two tiles do not fit the chip.
      if (!Run::must_fit) arrays[0].is_fixed = true;
      return arrays;
    }
  }
  /// Returns the schedule of the tiles that have records: with few records, some tiles have none.
  static schedule schedule_of(Run const& run) {
    auto const tiles_of = [](auto const& array) {
      std::uint32_t const all = array.owners.partitions();
      return std::max(1u, array.size < all ? static_cast<std::uint32_t>(array.size) : all);
    };
    if constexpr (Run::two_arrays) {
      return schedule{tiles_of(run), tiles_of(run.second)};
    } else {
      return schedule{tiles_of(run)};
    }
  }
  template <placement Where>
  static std::size_t tile_pair_bytes(Run const& run) {
    return rounds_server_of<ref<Where>>::shared_bytes(run.sizes(), run.window_halvings);
  }
  /// A kernel with its shared memory, set up when the log is made, and as many blocks as are
  /// resident together.
  struct launched {
    launched() = default;
    launched(runtime::kernel k, unsigned most, std::size_t bytes, std::source_location where)
        : kernel{std::move(k)}, shared_bytes{bytes} {
      auto const resident = runtime::resident_blocks(kernel, threads, shared_bytes, where);
      blocks = std::min(most, static_cast<unsigned>(resident));
    }
    runtime::kernel kernel;
    std::size_t shared_bytes = 0;
    unsigned blocks = 0;
  };

  template <class Ref>
  run_arguments<Ref> arguments(run_arguments<Run> const& given) const {
    run_arguments<Ref> a{{given.ref, {}, limit_}, given.number};
    a.ref.bins = {pool_.data(),     ranges_.data(),  present_.data(),       tile_pairs_.data(),
                  progress_.data(), control_.data(), schedule_of(given.ref)};
    return a;
  }
  /// Returns the arguments with all records of an array in one tile.
  static run_arguments<any_ref> in_one_tile(run_arguments<any_ref> a) {
    auto const join = [](auto& array) {
      array.owners = log_plan<Run>::partitions(array.size, 1);
      array.locals = static_cast<std::uint32_t>(array.owners.locals(array.size));
    };
    join(a.ref);
    if constexpr (Run::two_arrays) join(a.ref.second);
    return a;
  }
  template <class Arguments>
  static void launch_one(launched const& item, Arguments argument, stream_ref s,
                         std::source_location where) {
    void* given[] = {&argument};
    runtime::launch(item.kernel, runtime::early_launch(item.blocks, threads, item.shared_bytes),
                    given, s, where);
  }

  int device_;
  time_limit limit_;
  flat_sort<Run> sorter_;
  bool on_chip_ = false;
  launched few_, fill_, list_, run_;
  buffer<message_type> pool_;
  buffer<bin_range> ranges_;
  buffer<std::uint32_t> present_;
  buffer<scheduled_pair> tile_pairs_;
  buffer<tile_progress> progress_;
  buffer<rounds_control> control_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
