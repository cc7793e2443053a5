// SPDX-License-Identifier: Apache-2.0
/// @file
/// Logs of sections on two records, of one guarded array or of two.
#pragma once

#include <warden/deferred.cuh>
#include <warden/detail/deferred/deferred_block.cuh>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/log_base.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/is_noop.cuh>
#include <warden/detail/execute/shared_state.cuh>
#include <warden/detail/pairs/between_ref.cuh>
#include <warden/detail/pairs/rounds_runner.cuh>
#include <warden/detail/pairs/run_between_ref.cuh>
#include <warden/detail/pairs/run_pairs_ref.cuh>
#include <warden/detail/pairs/section_between.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/section.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

/// A log of critical sections that are each on a record of the guarded array `First` and a record
/// of the guarded array `Second`. Any kernels fill it, and `run` executes it in rounds:
///
///     struct rate {
///       float stars;
///       __device__ void operator()(user&, item&) const;  // or with the context of the first
///     };                                                 // guarded array, or with both contexts
///     using ratings = warden::deferred_between<user_table, item_table, rate>;
///     ratings later{users, items, n};                    // at most n sections
///     watch<<<blocks, 256, 0, s>>>(later.ref(), n);      // sends by the ref, or by a block
///     later.run(s);                                      // each runs exactly once
///     users.wait(s), items.wait(s);                      // throw what went wrong
///
/// While a section runs nothing else touches either record. The guarded arrays may have sections
/// and logs of their own, too. Work that uses the records of either array during a run is put off
/// or reported, as for the log of one guarded array.
///
/// The policy and options of the first guarded array say how the log is run. Its `wait` reports the
/// log's errors: sections refused, lost, put off or never run. The `wait` of the guarded array
/// concerned reports bad ids, and launches during a run. If a run does not progress, both report
/// it, and until both have done so nothing runs. The log has memory for its messages twice. Moves,
/// does not copy.
template <class First, class Second, class... Sections>
class deferred_between
    : public detail::log_base<
          detail::run_between_ref<First, Second, Sections...>,
          detail::rounds_runner<detail::run_between_ref<First, Second, Sections...>>> {
  using run_type = detail::run_between_ref<First, Second, Sections...>;
  using runner = detail::rounds_runner<run_type>;
  using base = detail::log_base<run_type, runner>;
  using access = detail::guarded_access;
  static_assert(
      (section_between<Sections, typename First::record, typename Second::record,
                       typename First::context, typename Second::context> &&
       ...),
      "warden: a section between two guarded arrays is trivially copyable and called, const, as "
      "section(first, second[, context[, other context]])");
  static_assert(!(detail::names_is_noop<Sections> || ...),
                "warden: sections on two records have no is_noop");
  static_assert(!First::policy::order::in_order && !Second::policy::order::in_order,
                "warden: sections on two records run in no order: order::sequential is for "
                "sections on one");

 public:
  /// Argument of a kernel, passed by value.
  using ref_type = between_ref<Sections...>;
  /// Client for blocks of `Threads` threads.
  template <unsigned Threads>
  using block = deferred_block<ref_type, Threads>;

  /// Makes a log for at most `sections` sections. Precondition: the records of both guarded arrays
  /// outlive the log. Blocks the host; the first log of a guarded array blocks it until the array's
  /// launches have ended. Throws limit_error for an impossible plan, for guarded arrays on two
  /// devices, and if both arguments are the same guarded array. Throws cuda_error when memory is
  /// short.
  deferred_between(First& first, Second& second, std::size_t sections, deferred_options chosen = {},
                   std::source_location where = std::source_location::current())
      : base{first.device(), access::shared(first), runner{first}, access::shared(second)} {
    runtime::device_scope const scope{first.device(), where};
    if (first.device() != second.device()) {
      throw_limit_error(
          "deferred_between: guarded arrays on the devices % and %; both must be on one",
          {static_cast<unsigned>(first.device()), static_cast<unsigned>(second.device())}, where);
    }
    if (partner_ == access::shared(first)) {
      throw_limit_error(
          "deferred_between: both arguments are the same guarded array; use warden::deferred for "
          "sections on two of its records",
          {}, where);
    }
    this->check(
        "deferred: % partitions of the second guarded array; a log has a power of two, at most %",
        chosen.second_partitions, where);
    detail::log_plan<run_type>::check(sections, first.size(), false, where);
    detail::log_plan<run_type>::check(sections, second.size(), false, where);
    static_cast<detail::run_array<typename First::record>&>(run_) =
        access::array<typename First::record>(first, true);
    run_.second = access::array<typename Second::record>(second, true);
    run_.sections_context = {access::context(first), access::context(second)};
    this->make(sections, chosen, where);
  }

  /// Returns the argument of kernels that send: trivially copyable, valid as long as the log lives.
  [[nodiscard]] ref_type ref() const {
    ref_type r;
    r.log = run_.log;
    r.report = run_.report;
    r.first_size = run_.size;
    r.second_size = run_.second.size;
    r.second_report = run_.second.report;
    return r;
  }

 private:
  using base::partner_;
  using base::run_;
};

WARDEN_NAMESPACE_END
