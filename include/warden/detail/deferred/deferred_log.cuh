// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host object of a log: any kernel fills it, and a run executes it with the whole GPU.
#pragma once

#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/log_base.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/log_runner.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/deferred/runs_in_trees.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

template <class Policy, class Record, class... Sections>
class basic_guarded;

namespace detail {

// Defined by warden/deferred_pairs.cuh.
template <class Policy, class Record, class... Sections>
class run_pairs_ref;

// Defined by warden/deferred_forwarding.cuh.
template <class Policy, class Record, class... Sections>
class log_replayer;
// Defined by warden/deferred_pairs.cuh.
template <class Run>
class rounds_runner;

// Defined by warden/guarded.cuh.
template <class Policy, class Record, class... Sections>
class tree_log_runner;

/// True if a fused launch runs the logs of such a guarded array.
template <class Policy, class Record, class... Sections>
inline constexpr bool is_replayed =
    (sending_section_of<Sections, Record, typename Policy::context> || ...);
/// Runner of the logs of such a guarded array.
template <class Policy, class Record, class... Sections>
using log_runner_of = std::conditional_t<
    is_replayed<Policy, Record, Sections...>, log_replayer<Policy, Record, Sections...>,
    std::conditional_t<run_ref<Policy, Record, Sections...>::has_pairs,
                       rounds_runner<run_pairs_ref<Policy, Record, Sections...>>,
                       std::conditional_t<runs_in_trees<Policy, Record, Sections...>,
                                          tree_log_runner<Policy, Record, Sections...>,
                                          log_runner<Policy, Record, Sections...>>>>;
/// Device view of the guarded array for the runs of a log. Sections on two records run in rounds.
template <class Policy, class Record, class... Sections>
using run_ref_of = std::conditional_t<run_ref<Policy, Record, Sections...>::has_pairs,
                                      run_pairs_ref<Policy, Record, Sections...>,
                                      run_ref<Policy, Record, Sections...>>;

/// Refuses logs whose runner is not defined. First base of a log, because the compiler then reports
/// these sentences before the errors that follow.
template <class Policy, class Record, class... Sections>
class log_checks {
  static_assert(!is_replayed<Policy, Record, Sections...> ||
                    is_defined<log_replayer<Policy, Record, Sections...>>,
                "warden: a log whose sections send sections is run by a fused launch: include "
                "warden/deferred_forwarding.cuh");
  static_assert(!run_ref<Policy, Record, Sections...>::has_pairs ||
                    is_defined<run_pairs_ref<Policy, Record, Sections...>>,
                "warden: a log whose sections are on two records is run in rounds: include "
                "warden/deferred_pairs.cuh");
};

}  // namespace detail

/// A log of critical sections on a guarded array's records. Any kernels fill it, and `run` executes
/// it:
///
///     warden::deferred later{b, n};                    // at most n sections
///     payday<<<blocks, 256, 0, s>>>(later.ref(), n);   // sends by the ref, or by deferred_block
///     later.run(s);                                    // each runs exactly once
///     b.wait(s);                                       // throws what went wrong
///
/// Filling needs no cooperative launch and no server, and never waits. Kernels in several streams
/// may fill one log. Precondition: `run` comes after all of them. Sections on two records run in
/// rounds, in which a block holds two tiles of the records at a time; the log then has memory for
/// its messages twice. Moves, does not copy.
template <class Policy, class Record, class... Sections>
class deferred : detail::log_checks<Policy, Record, Sections...>,
                 public detail::log_base<detail::run_ref_of<Policy, Record, Sections...>,
                                         detail::log_runner_of<Policy, Record, Sections...>> {
  using run_type = detail::run_ref_of<Policy, Record, Sections...>;
  using runner = detail::log_runner_of<Policy, Record, Sections...>;
  using base = detail::log_base<run_type, runner>;
  static constexpr bool replayed = detail::is_replayed<Policy, Record, Sections...>;
  static_assert(!(replayed && run_type::has_pairs),
                "warden: sections on two records and sections that send sections are not deferred "
                "together: use launch_fused");
  static_assert(
      !(run_type::in_order && run_type::has_pairs),
      "warden: sections on two records run in no order: order::sequential is for sections "
      "on one");

 public:
  /// Guarded array of the records.
  using guarded_type = basic_guarded<Policy, Record, Sections...>;
  /// Argument of a kernel, passed by value.
  using ref_type = deferred_ref<Policy, Record, Sections...>;

  /// Makes a log for at most `sections` sections, on the guarded array's device. Precondition: the
  /// records outlive the log. The guarded array may be destroyed before, but then nothing reports
  /// errors of the log's runs. Blocks the host; the first log of a guarded array blocks it until
  /// the array's launches have ended. Throws limit_error for an impossible plan and cuda_error when
  /// memory is short.
  deferred(basic_guarded<Policy, Record, Sections...>& of, std::size_t sections,
           deferred_options chosen = {},
           std::source_location where = std::source_location::current())
      : base{of.device(), detail::guarded_access::shared(of), runner{of}} {
    runtime::device_scope const scope{of.device(), where};
    detail::log_plan<run_type>::check(sections, of.size(), replayed, where);
    static_cast<detail::run_array<Record>&>(run_) =
        detail::guarded_access::array<Record>(of, run_type::has_pairs);
    run_.sections_context = detail::guarded_access::context(of);
    this->make(sections, chosen, where);
  }

  /// Returns the argument of kernels that send: trivially copyable, valid as long as the log lives.
  /// With order::sequential each launch needs its own ref; sections run in the order of the refs.
  [[nodiscard]] ref_type ref() {
    ref_type r;
    r.log = run_.log;
    r.log.order.launch = launches_++;
    r.size = run_.size;
    r.records = run_.records;
    r.report = run_.report;
    return r;
  }

  /// True if the current device can run a log on that number of records, as far as its shared
  /// memory goes. With records on chip a partition must fit a block's shared memory. Throws
  /// cuda_error.
  [[nodiscard]] static bool fits(std::uint64_t records,
                                 deferred_options chosen = {}) requires(!replayed &&
                                                                        !run_type::has_pairs) {
    return runner::fits(records, chosen);
  }

 private:
  using base::run_;

  std::uint32_t launches_ = 0;  ///< number of refs returned
};

WARDEN_NAMESPACE_END
