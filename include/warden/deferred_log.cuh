// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host object of a log: any kernel fills it, and a run executes it with the whole GPU.
#pragma once

#include <warden/buffer.hpp>
#include <warden/deferred_options.hpp>
#include <warden/error.hpp>
#include <warden/host/deferred_kernels.cuh>
#include <warden/host/log_order.cuh>
#include <warden/host/log_plan.cuh>
#include <warden/host/shared_state.cuh>
#include <warden/launch/deferred_ref.cuh>
#include <warden/launch/run_ref.cuh>
#include <warden/placement.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>

WARDEN_NAMESPACE_BEGIN

template <class Policy, class Record, class... Sections>
class basic_guarded;

/// A log of critical sections on a guarded's records, which any kernels fill and `run` executes:
///
///     warden::deferred later{b, n};                    // n sections at most
///     payday<<<blocks, 256, 0, s>>>(later.ref(), n);   // sends by the ref, or by deferred_block
///     later.run(s);                                    // each runs exactly once
///     b.wait(s);                                       // throws what went wrong
///
/// No cooperative launch, no server beside the kernel, no wait in it. Kernels that fill one log may
/// run in several streams, if `run` comes behind all of them. Moves, does not copy.
template <class Policy, class Record, class... Sections>
class deferred {
  using run_type = run_ref<Policy, Record, Sections...>;
  static_assert(!(pair_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections on two records are not deferred: use launch_fused");
  static_assert(!(forwarding_section_of<Sections, Record, typename Policy::context> || ...),
                "warden: sections that send sections are not deferred: use launch_fused");
  static_assert(
      requires { typename run_type::executor::template deferred_server<run_type>; },
      "warden: a log is run by the executor runs, locks or atomics");
  static_assert(
      !run_type::in_order || requires { run_type::executor::keeps_order; },
      "warden: order::sequential needs the executor runs");
  static_assert(!(run_type::in_order && Policy::combines),
                "warden: order::sequential runs each section by itself: let the policy not say "
                "combines");

 public:
  /// Whose records the sections are on.
  using guarded_type = basic_guarded<Policy, Record, Sections...>;
  /// What a kernel is handed, by value.
  using ref_type = deferred_ref<Policy, Record, Sections...>;

  /// A log for `sections` sections at most, on the guarded's device. The guarded's records outlive
  /// it. Throws limit_error for an impossible plan and cuda_error when memory is short.
  deferred(basic_guarded<Policy, Record, Sections...>& of, std::size_t sections,
           deferred_options chosen = {},
           std::source_location where = std::source_location::current())
      : device_{of.device()}, state_{of.state_} {
    runtime::device_scope const scope{device_};
    detail::log_plan<run_type>::check(sections, of.size(), where);
    run_.records = of.ref_.records;
    run_.size = of.ref_.size;
    run_.sections_context = of.ref_.sections_context;
    run_.report = state_->report.data();
    run_.at_work = state_->at_work.data();
    state_->has_logs = true;
    plan_partitions(chosen.partitions, where);
    run_.log = detail::log_plan<run_type>::make(sections, run_.owners, chosen.batches);
    if constexpr (!run_type::in_order) plan_sort(where);
    std::size_t const columns = run_.owners.partitions() + std::size_t{1};
    pool_ = buffer<message_type>{sections + (run_.log.last_region + std::size_t{1}) * run_.log.gap};
    regions_ = buffer<log_region>{run_.log.last_region + std::size_t{1}};
    offsets_ = buffer<std::uint16_t>{columns * run_.log.rows};
    begins_ = buffer<std::uint32_t>{run_.log.rows};
    control_ = buffer<log_control>{1};
    run_.log.pool = pool_.data();
    run_.log.regions = regions_.data();
    run_.log.offsets = offsets_.data();
    run_.log.begins = begins_.data();
    run_.log.control = control_.data();
    if constexpr (run_type::in_order) order_.make(run_.log, where);
    regions_.fill_bytes(0);
    control_.fill_bytes(0);
    // Rows that nobody has written say that there is nothing.
    offsets_.fill_bytes(0);
    begins_.fill_bytes(0xff);
    stream_ref{}.synchronize();
  }

  /// What it holds and was never run is reported by the guarded's `wait`.
  ~deferred() {
    if (regions_.size() == 0) return;
    try {
      state_->gone.push_back({std::move(regions_), run_.log.size, run_.log.region_size});
    } catch (std::bad_alloc const&) {
      // Nobody is left to be told.
    }
  }
  /// What was moved from may only be destroyed or assigned to.
  deferred(deferred&&) noexcept = default;
  /// Swaps with `other`.
  deferred& operator=(deferred&& other) noexcept {
    auto mine = members(), theirs = other.members();
    mine.swap(theirs);
    return *this;
  }
  deferred(deferred const&) = delete;
  deferred& operator=(deferred const&) = delete;

  /// For kernels that send: trivially copyable, valid as long as the log lives. With
  /// order::sequential each launch has one of its own, and their sections run in the order of
  /// those.
  [[nodiscard]] ref_type ref() {
    ref_type r;
    r.log = run_.log;
    r.log.order.launch = launches_++;
    r.size = run_.size;
    r.report = run_.report;
    return r;
  }

  /// Enqueues the execution of everything that the log accepted by then; behind it the log is empty
  /// again. What is sent meanwhile is refused and reported. Throws cuda_error.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_};
    unsigned const threads = run_type::policy::block_threads;
    auto const enqueue = [&](runtime::kernel const& kernel, unsigned blocks,
                             std::size_t shared_bytes) {
      detail::run_arguments<run_type> argument{run_, runs_};
      void* arguments[] = {&argument};
      runtime::launch(kernel, {blocks, threads, shared_bytes, false}, arguments, s, where);
    };
    ++runs_;
    // Runs that meet are put off one by one; what finds the order is not.
    if (run_type::in_order && !runtime::capturing(s)) s.wait_for(state_->last_run);
    enqueue(simt::make_kernel(&detail::close_log<run_type>), 1, 0);
    if constexpr (run_type::in_order) {
      order_.find({run_, runs_}, s, where);
    } else {
      enqueue(sort_kernel_, sort_blocks_, sort_bytes);
    }
    enqueue(run_kernel_, run_blocks_, run_bytes());
    enqueue(simt::make_kernel(&detail::open_log<run_type>), 1, 0);
    state_->ran(s);
  }

  /// Whether a log on so many records can be run on the current device: with its records on chip a
  /// part of them has to fit a block's shared memory. Throws cuda_error.
  [[nodiscard]] static bool fits(std::uint64_t records, deferred_options chosen = {}) {
    auto const partitions =
        chosen.partitions != 0 ? chosen.partitions : std::uint32_t{flat_writer::most_partitions};
    return run_bytes_of(records, owners_of(records, partitions)) <=
           runtime::facts(runtime::current_device()).shared_bytes_per_block;
  }

  /// Sections that it holds.
  [[nodiscard]] std::size_t capacity() const { return run_.log.size; }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return pool_.bytes() + regions_.bytes() + offsets_.bytes() + begins_.bytes() +
           control_.bytes() + order_.bytes();
  }

 private:
  using message_type = typename run_type::message_type;
  using server = typename run_type::executor::template deferred_server<run_type>;
  using flat_writer = detail::flat_writer<run_type>;
  static constexpr std::size_t sort_bytes = flat_writer::shared_bytes();
  [[nodiscard]] std::size_t run_bytes() const { return run_bytes_of(run_.size, run_.owners); }

  auto members() {
    return std::tie(device_, state_, run_, run_blocks_, sort_blocks_, run_kernel_, sort_kernel_,
                    runs_, launches_, pool_, regions_, offsets_, begins_, control_, order_);
  }
  /// How `records` are dealt out to `partitions`.
  static partition_map owners_of(std::uint64_t records, std::uint32_t partitions) {
    return {partitions, detail::log_plan<run_type>::chunk(records, partitions)};
  }
  /// Shared memory of a block that runs one of them.
  static std::size_t run_bytes_of(std::uint64_t records, partition_map const& owners) {
    return server::shared_bytes(static_cast<std::uint32_t>(owners.locals(records)));
  }
  /// Chooses the partitions, unless the user did, and how many blocks run them.
  void plan_partitions(unsigned chosen, std::source_location where) {
    auto const facts = runtime::facts(device_);
    unsigned const threads = run_type::policy::block_threads;
    constexpr std::uint32_t most = flat_writer::most_partitions;
    if (chosen > most || (chosen & (chosen - 1)) != 0) {
      throw limit_error{"deferred: " + std::to_string(chosen) +
                            " partitions; a log has a power of two, " + std::to_string(most) +
                            " at most",
                        where};
    }
    // Sections on records in memory wait for them: more threads at once have more loads under way.
    constexpr std::uint32_t blocks_each = Policy::records == placement::on_chip ? 1 : 2;
    // Not more than blocks at once: what sections write beside their records is then written in
    // one sweep.
    auto partitions =
        chosen != 0
            ? chosen
            : std::clamp<std::uint32_t>(
                  std::bit_floor(static_cast<std::uint32_t>(facts.multiprocessors)) * blocks_each,
                  1, most);
    while (true) {
      run_.owners = owners_of(run_.size, partitions);
      run_.locals = static_cast<std::uint32_t>(run_.owners.locals(run_.size));
      if (run_bytes() <= facts.shared_bytes_per_block) break;
      if (partitions == most || chosen != 0) {
        throw limit_error{
            "deferred: " + std::to_string(run_.size) + " records of " +
                std::to_string(sizeof(Record)) + " bytes in " + std::to_string(partitions) +
                " partitions do not fit the chip: one needs " + std::to_string(run_bytes()) +
                " bytes of shared memory; the device has " +
                std::to_string(facts.shared_bytes_per_block),
            where};
      }
      partitions *= 2;
    }
    run_blocks_ = std::min(partitions, static_cast<unsigned>(runtime::resident_blocks(
                                           run_kernel_, threads, run_bytes(), where)));
  }
  /// Chooses how many blocks sort: no more than there are tiles.
  void plan_sort(std::source_location where) {
    std::size_t const regions = run_.log.last_region + std::size_t{1};
    std::size_t const tiles =
        (run_.log.region_size + flat_writer::slots - 1) / flat_writer::slots * regions;
    auto const resident = static_cast<std::size_t>(
        runtime::resident_blocks(sort_kernel_, run_type::policy::block_threads, sort_bytes, where));
    sort_blocks_ = static_cast<unsigned>(std::min(resident, tiles));
  }

  /// Nothing where sections run in order: there are no flat messages.
  static runtime::kernel sort_kernel() {
    if constexpr (run_type::in_order)
      return {};
    else
      return simt::make_kernel(&detail::sort_flat<run_type>);
  }

  int device_;
  std::shared_ptr<detail::shared_state> state_;
  run_type run_{};
  unsigned run_blocks_ = 0, sort_blocks_ = 0;
  // Asked for shared memory when the log is made, and launched later: the address of a kernel may
  // be another one in another translation unit.
  runtime::kernel run_kernel_ = simt::make_kernel(&detail::run_log<run_type>);
  runtime::kernel sort_kernel_ = sort_kernel();
  std::uint32_t runs_ = 0;      ///< enqueued so far
  std::uint32_t launches_ = 0;  ///< refs given out
  buffer<message_type> pool_;
  buffer<log_region> regions_;
  buffer<std::uint16_t> offsets_;
  buffer<std::uint32_t> begins_;
  buffer<log_control> control_;
  detail::log_order<run_type> order_;  ///< empty unless sections run in order
};

WARDEN_NAMESPACE_END
