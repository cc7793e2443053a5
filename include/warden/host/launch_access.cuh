// SPDX-License-Identifier: Apache-2.0
/// @file
/// What launches and logs need of a guarded, and nobody else.
#pragma once

#include <warden/host/launch_history.cuh>
#include <warden/host/shared_state.cuh>
#include <warden/launch/launch_control.cuh>
#include <warden/launch/run_array.cuh>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// How a fused launch uses the shared memory of a block.
struct memory_plan {
  unsigned halvings = 0;     ///< of the servers' windows
  bool has_outboxes = true;  ///< without them a client block sends each message at once
};

/// The way to the private members of a guarded: a friend of each.
struct launch_access {
  /// What the others of a launch need of this guarded.
  template <class Guarded>
  static std::shared_ptr<launch_state const> const& state(Guarded const& g) {
    return g.history_->own();
  }
  /// What the guarded has in common with its logs.
  template <class Guarded>
  static std::shared_ptr<shared_state> const& shared(Guarded const& g) {
    return g.state_;
  }
  /// The guarded of one rank's share.
  template <class Spread>
  static auto& local(Spread& g) {
    return g.local_;
  }
  /// The records of one rank's share, which its logs keep alive.
  template <class Spread>
  static auto const& records(Spread const& g) {
    return g.records_;
  }
  /// The guarded's records as a run sees them, all but the parts that they are in; and whose health
  /// it is if a run `may_fail`.
  template <class Record, class Guarded>
  static run_array<Record> array(Guarded const& g, bool may_fail) {
    run_array<Record> a;
    a.records = g.ref_.records;
    a.size = g.ref_.size;
    a.report = g.state_->report.data();
    a.at_work = g.state_->at_work.data();
    if (may_fail) a.health = &state(g)->control.data()->health;
    return a;
  }
  /// What its sections are handed.
  template <class Guarded>
  static auto const& context(Guarded const& g) {
    return g.ref_.sections_context;
  }
  /// How long a wait may last without progress.
  template <class Guarded>
  static time_limit limit(Guarded const& g) {
    return {static_cast<std::uint64_t>(g.options_.time_limit_seconds * 1e9),
            g.options_.minimum_polls};
  }
  /// The device's view for a launch of all these guardeds that begins now; adds what is this
  /// guarded's to the launch, which the view gets when it is complete.
  template <class Guarded>
  static typename Guarded::ref begin(Guarded& g, launch_history::states all,
                                     memory_plan const& memory, std::size_t outbox_offset,
                                     launch_ref& launch) {
    typename Guarded::ref r = g.ref_;
    r.position = launch.member_count;
    r.outbox_offset = static_cast<std::uint32_t>(outbox_offset);
    r.has_outbox = memory.has_outboxes;
    // A forwarding_server has windows of one size.
    r.window_halvings = Guarded::ref::has_forwards ? 0 : memory.halvings;
    auto const& own = *g.history_->own();
    launch.members[launch.member_count++] = {own.control.data(), g.state_->report.data(),
                                             g.history_->begin(all)};
    for (auto const& group : own.groups)
      launch.groups[launch.group_count++] = {group.memory->indices.data(),
                                             group.servers};  // sabotage: progress-rings
    return r;
  }
  /// Marks the guarded's records as in use, or as free, for those who run its logs; enqueued in
  /// `s`. What is captured may be launched when there are logs.
  template <class Guarded>
  static void mark(Guarded& g, bool in_use, stream_ref s, std::source_location where) {
    auto& state = *g.state_;
    if (state.has_logs || runtime::capturing(s, where))
      runtime::fill_async(state.at_work.data(), in_use ? 2 : 0, state.at_work.bytes(), s, where);
  }
  /// The launch that has begun is enqueued in `s`.
  template <class Guarded>
  static void end(Guarded& g, stream_ref s, std::source_location where) {
    g.state_->enqueued(s, where);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
