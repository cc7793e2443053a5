// SPDX-License-Identifier: Apache-2.0
/// @file
/// History of a guarded array's launches, so that no failure is lost between launches, streams and
/// replays of graphs.
#pragma once

#include <warden/detail/fused/launch_state.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <utility>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Launches of one guarded array, as far as errors need them. Host threads of different guarded
/// arrays share none of its mutable state.
class launch_history {
 public:
  /// States of the guarded arrays of a launch, by position.
  using states = std::span<std::shared_ptr<launch_state const> const>;

  /// Constructs the history of a guarded array whose state is `own`.
  explicit launch_history(launch_state own)
      : own_{std::make_shared<launch_state const>(std::move(own))} {}
  /// Returns the guarded array's own state.
  [[nodiscard]] std::shared_ptr<launch_state const> const& own() const { return own_; }

  /// Begins a launch of the guarded arrays `all`, and returns its number for this guarded array.
  /// Keeps the states of the others, because a failure of the launch, or of a replay, may be found
  /// much later.
  std::uint64_t begin(states all) {
    forget_gone();
    for (auto const& one : all) {
      if (one == own_) continue;
      auto const same = [&](partner const& p) { return p.state.lock() == one; };
      auto const known = std::find_if(partners_.begin(), partners_.end(), same);
      if (known == partners_.end()) {
        partners_.push_back({one, one});
      } else {
        known->kept = one;
      }
    }
    return ++launches_;
  }
  /// Adds to `d` the progress of a failed launch's channels, including those of other guarded
  /// arrays that still have to report it. Blocks the host. Precondition: the launch has ended.
  void describe(diagnosis& d, failed_launch const& failed, stream_ref s,
                std::source_location where) const {
    for (std::uint32_t m = 0; m < failed.member_count; ++m) {
      launch_member const& member = failed.members[m];
      auto const state = find(member.control, s, where);
      if (!state) continue;
      for (auto const& group : state->groups)
        read_channels(d, group, m, member.launch_number, s, where);
    }
  }
  /// Forgets launches after a report, or if there is nothing to report.
  void reported() {
    // Only graphs may still fail with these guarded arrays, and while they may, the arrays live.
    for (partner& p : partners_) p.kept.reset();
    forget_gone();
  }

 private:
  struct partner {
    std::weak_ptr<launch_state const> state;
    std::shared_ptr<launch_state const> kept;  ///< kept for a dump since the last report
  };

  void forget_gone() {
    std::erase_if(partners_, [](partner const& p) { return p.state.expired(); });
  }
  /// Returns the state of a guarded array that still has the failure to report; null if there is
  /// none.
  [[nodiscard]] std::shared_ptr<launch_state const> find(launch_control const* control,
                                                         stream_ref s,
                                                         std::source_location where) const {
    if (control == own_->control->data()) return own_;
    for (partner const& p : partners_) {
      auto const state = p.state.lock();
      if (!state || state->control->data() != control) continue;
      std::uint32_t poisoned = 0;
      copy(&poisoned, &control->health.poisoned, 1, s, where);
      s.synchronize(where);
      return poisoned != 0 ? state : nullptr;
    }
    return nullptr;
  }

  std::shared_ptr<launch_state const> own_;
  /// Each partner once. Partners that are gone and not kept are removed.
  std::vector<partner> partners_;
  std::uint64_t launches_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
