// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a guarded array for launches and logs only.
#pragma once

#include <warden/detail/block/index_range.cuh>
#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/shared_state.cuh>

#include <cstdint>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Access to the private members of guarded arrays, whose friend it is.
struct guarded_access {
  /// Returns the state of this guarded array for fused launches, and makes it if there is none.
  template <class Guarded>
  static auto& fused(Guarded const& g) {
    return g.fused();
  }
  /// Returns the state that the guarded array shares with its logs.
  template <class Guarded>
  static std::shared_ptr<shared_state> const& shared(Guarded const& g) {
    return g.state_;
  }
  /// Returns the guarded array of one rank's share.
  template <class Spread>
  static auto& local(Spread& g) {
    return g.local_;
  }
  /// Returns the records of one rank's share, which its logs keep alive.
  template <class Spread>
  static auto const& records(Spread const& g) {
    return g.records_;
  }
  /// Returns the device view of the guarded array's records, without partitions. Sets `health` if
  /// the run `may_fail`.
  template <class Record, class Guarded>
  static run_array<Record> array(Guarded const& g, bool may_fail) {
    run_array<Record> a;
    a.records = g.records_;
    a.size = g.size_;
    a.report = g.state_->report.data();
    a.at_work = g.state_->at_work.data();
    if (may_fail) a.health = &g.state_->control->data()->health;
    return a;
  }
  /// Returns the context of its sections.
  template <class Guarded>
  static auto const& context(Guarded const& g) {
    return g.context_;
  }
  /// Applies the sections that `f(i)` returns for all i of a range, as `apply_async` does for those
  /// from 0 on. For tests with large indexes.
  template <class Guarded, class Function>
  static void apply(Guarded& g, index_range of, Function const& f,
                    std::source_location where = std::source_location::current()) {
    g.apply(of, f, {}, where);
  }
  /// Returns the time limit of waits without progress.
  template <class Guarded>
  static time_limit limit(Guarded const& g) {
    return {static_cast<std::uint64_t>(g.options_.time_limit_seconds * 1e9),
            g.options_.minimum_polls};
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
