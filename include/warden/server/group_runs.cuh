// SPDX-License-Identifier: Apache-2.0
/// @file
/// What groups of lanes do in the executor `runs`: each takes the run of one owner thread after
/// another, and all its lanes together apply the run's sections.
#pragma once

#include <warden/block/record_store.cuh>
#include <warden/lane_group.cuh>
#include <warden/launch/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// The runs of one window. Message i of the window, sorted by owner thread, is `window.sorted(i)`.
/// A hot record's long run is one group's, while the others take what is left.
template <class Ref, class Window>
class group_runs {
  using message_type = typename Ref::message_type;
  using record = typename Ref::record;
  using reply_type = typename Ref::reply_type;

 public:
  /// Lanes of a group.
  using group = lane_group<Ref::lanes>;

  /// The arguments outlive it.
  WARDEN_DEVICE group_runs(Ref const& ref, record_store<Ref> const& records, Window const& window)
      : ref_{ref}, records_{records}, window_{window} {}

  /// Runs all messages. `begins` says where each owner's run begins, and `total` where the last one
  /// ends; `taken`, in shared memory, is 0 before. A block barrier has passed, and one follows
  /// before any of these changes: it hands what a group wrote to the next one that has the record.
  WARDEN_DEVICE void run(simt::shared_span<std::uint32_t> begins, std::uint32_t total,
                         std::uint32_t& taken) const {
    group const lanes;
    std::uint32_t const owners =
        ref_.locals < begins.size() ? static_cast<std::uint32_t>(ref_.locals) : begins.size();
    while (true) {
      std::uint32_t owner = 0;
      if (lanes.lane() == 0) owner = simt::shared_fetch_add(taken, 1u);  // sabotage: group-run
      owner = lanes.shuffle(owner, 0);
      if (owner >= owners) return;
      run_one(lanes, begins[owner], owner + 1 < begins.size() ? begins[owner + 1] : total);
    }
  }

 private:
  /// A message, and where its record is.
  struct upcoming {
    message_type message;
    record* place;
  };
  WARDEN_DEVICE upcoming look_up(std::uint32_t i, std::uint32_t end) const {
    message_type const& m = window_.sorted(i < end ? i : end - 1);
    return {m, records_.at(m.local())};
  }

  /// One owner's messages.
  WARDEN_DEVICE void run_one(group const& lanes, std::uint32_t begin, std::uint32_t end) const {
    if (begin == end) return;
    upcoming next = look_up(begin, end);
    WARDEN_NO_UNROLL
    for (std::uint32_t i = begin; i < end; ++i) {
      upcoming const now = next;
      // On its way while the section runs.
      next = look_up(i + 1, end);
      record const* const identity = records_.address_of(now.message.local());
      reply_type to_caller[1];
      simt::group_enter(lanes.mask(), identity);
      section_runner{ref_}.apply(now.message, *now.place, to_caller[0]);
      simt::group_leave(lanes.mask(), identity);
      // What each lane wrote is visible to all, in the next section and in the first lane's answer.
      lanes.sync();                                                  // sabotage: group-sync
      if (lanes.lane() == 0) section_runner{ref_}.reply(to_caller);  // sabotage: group-answer
    }
  }

  Ref const& ref_;
  record_store<Ref> const& records_;
  Window const& window_;
};

WARDEN_NAMESPACE_END
