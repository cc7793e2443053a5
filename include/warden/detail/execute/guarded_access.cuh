// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of a guarded array for launches and logs only.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/execute/run_array.cuh>
#include <warden/detail/execute/shared_state.cuh>

#include <cstdint>
#include <memory>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The way to the private members of a guarded array: a friend of each.
struct guarded_access {
  /// State of this guarded array for fused launches, made now if there is none.
  template <class Guarded>
  static auto& fused(Guarded const& g) {
    return g.fused();
  }
  /// State that the guarded array shares with its logs.
  template <class Guarded>
  static std::shared_ptr<shared_state> const& shared(Guarded const& g) {
    return g.state_;
  }
  /// The guarded array of one rank's share.
  template <class Spread>
  static auto& local(Spread& g) {
    return g.local_;
  }
  /// The records of one rank's share, which its logs keep alive.
  template <class Spread>
  static auto const& records(Spread const& g) {
    return g.records_;
  }
  /// The guarded array's records as a run sees them, all but the parts that they are in; and whose
  /// health it is if a run `may_fail`.
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
  /// Context of its sections.
  template <class Guarded>
  static auto const& context(Guarded const& g) {
    return g.context_;
  }
  /// How long a wait may last without progress.
  template <class Guarded>
  static time_limit limit(Guarded const& g) {
    return {static_cast<std::uint64_t>(g.options_.time_limit_seconds * 1e9),
            g.options_.minimum_polls};
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
