// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host object of a log: any kernel fills it, and a run executes it with the whole GPU.
#pragma once

#include <warden/buffer.hpp>
#include <warden/deferred_options.hpp>
#include <warden/error.hpp>
#include <warden/host/deferred_kernels.cuh>
#include <warden/host/log_plan.cuh>
#include <warden/host/log_replayer.cuh>
#include <warden/host/log_runner.cuh>
#include <warden/host/rounds_runner.cuh>
#include <warden/host/shared_state.cuh>
#include <warden/launch/deferred_ref.cuh>
#include <warden/launch/run_ref.cuh>
#include <warden/runtime.hpp>
#include <warden/simt/launch.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
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
/// run in several streams, if `run` comes behind all of them. Sections on two records are run in
/// rounds, in which a block holds two parts of the records at a time; the log then has memory for
/// its messages twice. Moves, does not copy.
template <class Policy, class Record, class... Sections>
class deferred {
  using run_type = run_ref<Policy, Record, Sections...>;
  static constexpr bool replayed =
      (forwarding_section_of<Sections, Record, typename Policy::context> || ...);
  static_assert(!(replayed && run_type::has_pairs),
                "warden: sections on two records and sections that send sections are not deferred "
                "together: use launch_fused");
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
      : device_{of.device()}, state_{of.state_}, runner_{of} {
    runtime::device_scope const scope{device_};
    detail::log_plan<run_type>::check(sections, of.size(), replayed, where);
    run_.records = of.ref_.records;
    run_.size = of.ref_.size;
    run_.sections_context = of.ref_.sections_context;
    run_.report = state_->report.data();
    run_.at_work = state_->at_work.data();
    state_->has_logs = true;
    check("partitions; a log has", chosen.partitions, where);
    check("parts of a partition that is split; there are", chosen.split, where);
    partition_map const sorted_by = runner_.plan_partitions(run_, chosen, sections, where);
    run_.log = detail::log_plan<run_type>::make(sections, sorted_by, chosen.batches);
    std::size_t const columns = sorted_by.partitions() + std::size_t{1};
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
    runner_.make(run_, where);
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
  /// again. What is sent meanwhile is refused and reported. Where sections send sections it is a
  /// fused launch. Throws as launch_fused does.
  void run(stream_ref s = {}, std::source_location where = std::source_location::current()) {
    runtime::device_scope const scope{device_};
    detail::run_arguments<run_type> run{run_, ++runs_};
    launch_control* launch = runner_.launch();
    auto const enqueue = [&](runtime::kernel const& kernel) {
      void* arguments[] = {&run, &launch};
      runtime::launch(kernel, {1, run_type::policy::block_threads, 0, false}, arguments, s, where);
    };
    // Runs that meet are put off one by one; what finds the order is not.
    if (run_type::in_order && !runtime::capturing(s)) s.wait_for(state_->last_run);
    enqueue(simt::make_kernel(&detail::close_log<run_type>));
    try {
      runner_.enqueue(run, s, where);
    } catch (...) {
      enqueue(simt::make_kernel(&detail::reopen_log<run_type>));
      throw;
    }
    enqueue(simt::make_kernel(&detail::open_log<run_type>));
    state_->ran(s);
  }

  /// Whether the current device can run a log on so many records, as far as its shared memory goes:
  /// with records on chip a partition has to fit a block's. Throws cuda_error.
  [[nodiscard]] static bool fits(std::uint64_t records, deferred_options chosen = {}) {
    return runner::fits(records, chosen);
  }

  /// Sections that it holds.
  [[nodiscard]] std::size_t capacity() const { return run_.log.size; }
  /// Device memory, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const {
    return pool_.bytes() + regions_.bytes() + offsets_.bytes() + begins_.bytes() +
           control_.bytes() + runner_.bytes();
  }

 private:
  using message_type = typename run_type::message_type;
  using runner = std::conditional_t<
      replayed, detail::log_replayer<Policy, Record, Sections...>,
      std::conditional_t<run_type::has_pairs, detail::rounds_runner<Policy, Record, Sections...>,
                         detail::log_runner<Policy, Record, Sections...>>>;

  auto members() {
    return std::tie(device_, state_, runner_, run_, runs_, launches_, pool_, regions_, offsets_,
                    begins_, control_);
  }
  static void check(char const* what, unsigned chosen, std::source_location where) {
    constexpr std::uint32_t most = detail::flat_writer<run_type>::most_partitions;
    if (chosen <= most && (chosen & (chosen - 1)) == 0) return;
    throw limit_error{"deferred: " + std::to_string(chosen) + " " + what + " a power of two, " +
                          std::to_string(most) + " at most",
                      where};
  }

  int device_;
  std::shared_ptr<detail::shared_state> state_;
  runner runner_;
  run_type run_{};
  std::uint32_t runs_ = 0;      ///< enqueued so far
  std::uint32_t launches_ = 0;  ///< refs given out
  buffer<message_type> pool_;
  buffer<log_region> regions_;
  buffer<std::uint16_t> offsets_;
  buffer<std::uint32_t> begins_;
  buffer<log_control> control_;
};

WARDEN_NAMESPACE_END
