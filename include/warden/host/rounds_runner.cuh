// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a log's sections are run where some of them are on two records: in rounds. Into how many
/// parts the records go, whether two of them fit the chip, and what is launched.
#pragma once

#include <warden/buffer.hpp>
#include <warden/deferred_options.hpp>
#include <warden/error.hpp>
#include <warden/host/flat_sort.cuh>
#include <warden/host/launch_access.cuh>
#include <warden/host/launch_state.cuh>
#include <warden/host/launchable.cuh>
#include <warden/host/log_plan.cuh>
#include <warden/host/rounds_kernels.cuh>
#include <warden/launch/watchdog.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The kernels between a log's close and its opening, and what they need.
template <class Policy, class Record, class... Sections>
class rounds_runner {
  using Run = run_ref<Policy, Record, Sections...>;
  using message_type = typename Run::message_type;
  static constexpr unsigned threads = Run::policy::block_threads;
  static_assert(
      !Run::in_order,
      "warden: sections on two records run in no order: order::sequential is for sections "
      "on one");
  static_assert(
      !Policy::combines,
      "warden: sections on two records are not combined: let the policy not say combines");
  template <placement Where>
  using ref = rounds_ref<Run, Where>;
  using any_ref = ref<placement::in_memory>;
  using chip_ref = ref<placement::on_chip>;

 public:
  /// For the logs of `of`.
  explicit rounds_runner(launchable<Policy, Record, Sections...> const& of)
      : device_{of.device()},
        guarded_{launch_access::state(of)},
        limit_{launch_access::limit(of)} {}

  /// No launch replays the log.
  [[nodiscard]] static launch_control* launch() { return nullptr; }
  /// Bytes of device memory.
  [[nodiscard]] std::size_t bytes() const {
    return pool_.bytes() + ranges_.bytes() + present_.bytes() + games_.bytes() + turns_.bytes() +
           control_.bytes();
  }

  /// Chooses the parts, unless the user did. Returns them. Throws limit_error if two parts have to
  /// be on chip and are not, and if parts are to be split.
  partition_map plan_partitions(Run& run, deferred_options const& options, std::size_t,
                                std::source_location where) {
    if (options.split > 1) {
      throw limit_error{"deferred: split " + std::to_string(options.split) +
                            "; with sections on two records a log is not split",
                        where};
    }
    unsigned const chosen = options.partitions;
    auto const facts = runtime::facts(device_);
    constexpr std::uint32_t most = flat_writer<Run>::most_partitions;
    auto parts = chosen;
    if (chosen == 0) {
      // A block for each game of a round, and a multiprocessor for each block. Where records are so
      // few that all sections of a game want the same ones, they are better apart.
      parts = 2 * std::bit_floor(static_cast<std::uint32_t>(facts.multiprocessors));
      if (run.size < std::uint64_t{8} * parts) parts *= 2;
      parts = std::min(parts, most);
    }
    std::size_t const most_bytes = facts.shared_bytes_per_block;
    while (true) {
      run.owners = log_plan<Run>::partitions(run.size, parts);
      run.locals = static_cast<std::uint32_t>(run.owners.locals(run.size));
      on_chip_ = game_bytes<placement::on_chip>(run) <= most_bytes;
      if (on_chip_ || parts == most || chosen != 0) break;
      parts *= 2;
    }
    if (!on_chip_ && Run::policy::records == placement::on_chip) {
      throw limit_error{"deferred: " + std::to_string(run.size) + " records of " +
                            std::to_string(sizeof(typename Run::record)) + " bytes in " +
                            std::to_string(parts) + " parts do not fit the chip: two need " +
                            std::to_string(game_bytes<placement::on_chip>(run)) +
                            " bytes of shared memory; the device has " + std::to_string(most_bytes),
                        where};
    }
    fill_ = {simt::make_kernel(&fill_bins<any_ref>), parts, fill_bytes(parts), where};
    list_ = {simt::make_kernel(&list_games<any_ref>), 1, list_bytes(parts), where};
    play_ = on_chip_ ? launched{simt::make_kernel(&play_games<chip_ref>), parts,
                                game_bytes<placement::on_chip>(run), where}
                     : launched{simt::make_kernel(&play_games<any_ref>), parts,
                                game_bytes<placement::in_memory>(run), where};
    return run.owners;
  }
  /// Behind the plan of the log: makes the memory for as many messages. Throws cuda_error.
  void make(Run& run, std::source_location where) {
    sorter_.plan(run.log, where);
    run.health = &guarded_->control.data()->health;
    std::uint32_t const parts = parts_of(run);
    pool_ = buffer<message_type>{run.log.size};
    ranges_ = buffer<bin_range>{std::size_t{parts} * parts};
    present_ = buffer<std::uint32_t>{std::size_t{parts} * pair_bins<message_type>::words(parts)};
    games_ = buffer<round_game>{tournament{parts}.games()};
    turns_ = buffer<part_turns>{parts};
    control_ = buffer<rounds_control>{1};
    control_.fill_bytes(0);
  }

  /// Enqueues what comes between closing the log and opening it. Throws cuda_error.
  void enqueue(run_arguments<Run> const& given, stream_ref s, std::source_location where) const {
    sorter_.enqueue(given, s, where);
    launch_one(fill_, arguments<any_ref>(given), s, where);
    launch_one(list_, arguments<any_ref>(given), s, where);
    if (on_chip_) {
      launch_one(play_, arguments<chip_ref>(given), s, where);
    } else {
      launch_one(play_, arguments<any_ref>(given), s, where);
    }
  }

 private:
  /// Parts that have records: where there are few records, not all do.
  static std::uint32_t parts_of(Run const& run) {
    std::uint32_t const all = run.owners.partitions();
    return run.size < all ? static_cast<std::uint32_t>(run.size) : all;
  }
  static std::size_t fill_bytes(std::uint32_t parts) {
    return bin_writer<any_ref>::shared_bytes(parts);
  }
  static std::size_t list_bytes(std::uint32_t parts) {
    return round_list<any_ref>::shared_bytes(parts);
  }
  template <placement Where>
  static std::size_t game_bytes(Run const& run) {
    return rounds_server_of<ref<Where>>::shared_bytes(run.locals);
  }
  /// A kernel, asked for its shared memory when the log is made, with as many blocks as are
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
    a.ref.bins = {pool_.data(),  ranges_.data(),  present_.data(),    games_.data(),
                  turns_.data(), control_.data(), parts_of(given.ref)};
    return a;
  }
  template <class Arguments>
  static void launch_one(launched const& what, Arguments argument, stream_ref s,
                         std::source_location where) {
    void* given[] = {&argument};
    runtime::launch_shape const shape{what.blocks, threads, what.shared_bytes, false};
    runtime::launch(what.kernel, shape, given, s, where);
  }

  int device_;
  std::shared_ptr<launch_state const> guarded_;
  time_limit limit_;
  flat_sort<Run> sorter_;
  bool on_chip_ = false;
  launched fill_, list_, play_;
  buffer<message_type> pool_;
  buffer<bin_range> ranges_;
  buffer<std::uint32_t> present_;
  buffer<round_game> games_;
  buffer<part_turns> turns_;
  buffer<rounds_control> control_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
