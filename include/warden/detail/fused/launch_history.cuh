// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded array knows of its launches, so that no failure is lost between launches, streams
/// and replays of graphs.
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

/// The launches of one guarded array, as far as errors need them; host threads of different guarded
/// arrays share nothing of it that changes.
class launch_history {
 public:
  /// The guarded arrays of a launch, by position.
  using states = std::span<std::shared_ptr<launch_state const> const>;

  /// The history of a guarded array whose state is `own`.
  explicit launch_history(launch_state own)
      : own_{std::make_shared<launch_state const>(std::move(own))} {}
  /// The guarded array's own state.
  [[nodiscard]] std::shared_ptr<launch_state const> const& own() const { return own_; }

  /// A launch of all these begins, which number for this guarded array is returned. A failure of
  /// it, or of a replay, may be found much later: then those that it was shared with must be known.
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
  /// Adds to `d` how far the channels of a failed launch had come, those of the other guarded array
  /// arrays that still have to report it, too. Blocks the host; the launch has ended.
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
  /// A report was made, or there is nothing to report.
  void reported() {
    // Only graphs may still fail with these, and then they live.
    for (partner& p : partners_) p.kept.reset();
    forget_gone();
  }

 private:
  struct partner {
    std::weak_ptr<launch_state const> state;
    std::shared_ptr<launch_state const> kept;  ///< for a dump, since the last report
  };

  void forget_gone() {
    std::erase_if(partners_, [](partner const& p) { return p.state.expired(); });
  }
  /// The state of a guarded array that still has the failure to report; null if there is none.
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
  /// Each once; those that are gone and were not kept are forgotten.
  std::vector<partner> partners_;
  std::uint64_t launches_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
