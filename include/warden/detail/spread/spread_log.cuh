// SPDX-License-Identifier: Apache-2.0
/// @file
/// Log of one rank, on records that are spread over ranks.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/deferred/deferred_options.hpp>
#include <warden/detail/deferred/deferred_ref.cuh>
#include <warden/detail/deferred/log_base.cuh>
#include <warden/detail/deferred/log_plan.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/spread/log_sender.cuh>
#include <warden/detail/spread/run_timeline.cuh>
#include <warden/detail/spread/spread_runner.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A log and its runs. Movable, not copyable.
template <class Policy, class Record, class... Sections>
class spread_log : public log_base<run_ref<Policy, Record, Sections...>,
                                   spread_runner<Policy, Record, Sections...>> {
  using run_type = run_ref<Policy, Record, Sections...>;
  using runner = spread_runner<Policy, Record, Sections...>;
  using base = log_base<run_type, runner>;

 public:
  /// Type of a kernel's argument, passed by value.
  using ref_type = deferred_ref<Policy, Record, Sections...>;

  /// Constructs a log of a spread_guarded. Collective over the ranks.
  template <class Guarded>
  spread_log(Guarded& array, std::size_t sections, deferred_options const& chosen,
             std::source_location where)
      : base{array.device(), guarded_access::shared(guarded_access::local(array)),
             made_runner(array, where)},
        records_{guarded_access::records(array)},
        map_{array.share().map},
        total_{array.size()} {
    runtime::device_scope const scope{array.device(), where};
    auto const& local = guarded_access::local(array);
    log_plan<run_type>::check(sections, local.size(), false, where);
    static_cast<run_array<Record>&>(run_) = guarded_access::array<Record>(local, false);
    run_.sections_context = guarded_access::context(local);
    if constexpr (run_type::maps_ids) run_.ranks = map_;
    this->make(sections, chosen, where);
  }

  /// Returns the argument of a sending kernel. Each launch needs a new one.
  [[nodiscard]] ref_type ref() {
    ref_type r;
    r.log = run_.log;
    r.log.order.launch = launches_++;
    r.size = total_;
    r.report = run_.report;
    r.ranks = map_;
    r.bits = run_.bits;
    return r;
  }
  /// Sends the sections of this log's sections to `next`.
  void send_to(spread_log& next) { run_.next = next.ref(); }

  /// Runs the log, after the run before. Collective over the ranks. Returns true if any rank had
  /// sections. If a rank's records are in use, no rank runs its log, and that rank counts it.
  bool run(stream_ref s, std::source_location where) {
    runtime::device_scope const scope{this->device_, where};
    s.wait_for(this->state_->last_work, where);
    try {
      base::run(s, where);
    } catch (put_off const&) {
      return false;
    } catch (cuda_error const&) {
      // The other ranks are in this run's collective calls. The next call of this rank would meet
      // them there, and they would run what has not come.
      this->runner_.world().abort();
      throw;
    }
    return this->runner_.any_ran();
  }

  /// Records the phases of runs; see deferred.
  void record_phases(std::source_location where) {
    runtime::device_scope const scope{this->device_, where};
    this->runner_.record_phases();
  }
  /// Returns the ends of the phases; see deferred.
  [[nodiscard]] run_phase_ends phase_ends(std::source_location where) const {
    return this->runner_.phase_ends(where);
  }

 private:
  using base::run_;

  template <class Guarded>
  static runner made_runner(Guarded& array, std::source_location where) {
    runtime::device_scope const scope{array.device(), where};
    return runner{guarded_access::local(array), array.world(), array.size(), where};
  }

  std::shared_ptr<buffer<Record> const>
      records_;  ///< keeps the records after the spread_guarded is destroyed
  typename Policy::rank_map map_;
  std::uint64_t total_;         ///< records of all ranks
  std::uint32_t launches_ = 0;  ///< number of refs returned
};

}  // namespace detail
WARDEN_NAMESPACE_END
