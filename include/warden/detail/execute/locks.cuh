// SPDX-License-Identifier: Apache-2.0
/// @file
/// The `locks` executor: a server's threads run their sections under a table of locks in shared
/// memory [Wang 2020, listing 4.2], with few contenders for each lock.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/lock_table.cuh>
#include <warden/detail/block/match_group.cuh>
#include <warden/detail/execute/group_locks.cuh>
#include <warden/detail/execute/lock_pair.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the sections that one warp received. See slice_server.
template <class Ref, unsigned Count>
class locks_worker {
 public:
  /// Bytes of shared memory for `locals` records of the server.
  WARDEN_HOST_DEVICE static constexpr std::size_t shared_bytes(std::size_t locals) {
    return layout{locals}.carver.bytes();
  }

  /// For server `number`, with shared memory for the block.
  WARDEN_DEVICE locks_worker(Ref const& ref, std::uint32_t number, std::byte* storage)
      : locks_worker{ref, number, storage, layout{ref.locals}} {}

  /// Frees all locks, and loads the records. Collective over the block.
  WARDEN_DEVICE void start() const {
    locks_.clear();
    records_.load();
  }

  /// Runs the section of every lane that `arrived`, at most one at a time for each lock. Collective
  /// over a warp. Returns false if the launch was poisoned before all had run.
  WARDEN_DEVICE bool run(typename Ref::message_type const& m, bool arrived) {
    std::uint32_t second = m.local();
    bool const is_pair = arrived && section_runner{ref_}.second_of(m, second);
    if constexpr (Ref::group_size > 1) return run_together(m, second, arrived);
    if constexpr (Ref::has_pairs) {
      if (!run_pairs(m, second, is_pair)) return false;
    }
    return run_alone(m, arrived && !is_pair);
  }

  /// Writes the records back. Collective over the block.
  WARDEN_DEVICE void finish() const {
    records_.write_back();
    if constexpr (Ref::policy::statistics) {
      if (retries_ != 0) simt::fetch_add(&ref_.report->totals.retries, std::uint64_t{retries_});
    }
  }

 private:
  using table = lock_table<Count>;
  struct layout {
    std::size_t locals;
    arena_carver carver{};
    arena_piece<std::uint32_t> locks = carver.take<std::uint32_t>(Count);
    arena_piece<typename Ref::record> records = record_store<Ref>::carve(carver, locals);
  };
  /// Tries without any lock before a warp waits with pauses.
  static constexpr unsigned tries_before_wait = 8;

  WARDEN_DEVICE locks_worker(Ref const& ref, std::uint32_t number, std::byte* storage,
                             layout const& at)
      : ref_{ref},
        number_{number},
        records_{ref, number, at.records.in(storage)},
        locks_{at.locks.in(storage)} {}

  /// Runs all sections by groups of lanes.
  WARDEN_DEVICE bool run_together(typename Ref::message_type const& own, std::uint32_t own_second,
                                  bool arrived) {
    lane_group<Ref::group_size> const lanes;
    auto const run_one = [&](typename Ref::message_type const& m) {
      std::uint32_t second = m.local();
      section_runner const runner{ref_};
      runner.second_of(m, second);
      auto* const identity = records_.address_of(m.local());
      auto* const other = records_.address_of(second);
      typename Ref::reply_type to_caller[1];
      runner.enter(lanes, m, identity, records_.at(m.local()));
      if (other != identity) simt::group_enter(lanes.mask(), other);
      runner.apply(m, *records_.at(m.local()), records_.id_of(m.local()), *records_.at(second),
                   to_caller[0]);
      if (other != identity) simt::group_leave(lanes.mask(), other);
      simt::group_leave(lanes.mask(), identity);
      // The writes of each lane are visible to all, in the next section and in the first lane's
      // answer.
      lanes.sync();  // mutation: group-release
      if (lanes.lane() == 0) runner.reply(to_caller);
    };
    // With several messages, each lane checks its own message's section. No-op sections count as
    // having run first.
    auto const choose = [&](unsigned together) {
      if constexpr (Ref::filters_noops) {
        if ((together & (together - 1)) == 0) return together;
        bool const is_checked = (together >> lanes.lane() & 1u) != 0;
        bool const is_done =
            is_checked && section_runner{ref_}.is_done(own, *records_.at(own.local()));
        // All lanes have read the record before one changes it.
        lanes.sync();  // mutation: asked-sync
        return together & ~lanes.ballot(is_done);
      } else {
        return together;
      }
    };
    bool const alive = run_under_locks(
        lanes, locks_, own, {table::lock_of(own.local()), table::lock_of(own_second)}, arrived,
        retries_, choose, run_one, [this](lock_pair wanted) { return wait_for(wanted); });
    return !simt::any(simt::full_warp, !alive);
  }

  /// Runs the sections on one record.
  WARDEN_DEVICE bool run_alone(typename Ref::message_type const& m, bool arrived) {
    unsigned const me = simt::lane_id();
    unsigned const lock = table::lock_of(m.local());
    // Lanes without a message get their own value, beyond every lock.
    auto const group = match_group::of(arrived ? lock : (0x80000000u | me));
    bool waiting = arrived;
    unsigned fruitless = 0;
    typename Ref::reply_type to_caller[1];
    while (true) {
      bool const tries = waiting && me == group.leader;
      bool const taken = tries && locks_.try_lock(lock);
      unsigned const taken_by = simt::ballot(simt::full_warp, taken);
      bool const ours = waiting && (taken_by >> group.leader & 1u) != 0;
      if (taken_by != 0) {
        bool runs = ours;
        if constexpr (Ref::filters_noops) {
          // The barrier hands the leader's acquisition to the lanes. Another one, before the first
          // section runs, comes after they have read their records.
          simt::sync_warp(simt::full_warp);  // mutation: noop-acquire
          runs = ours && !section_runner{ref_}.is_done(m, *records_.at(m.local()));
        }
        // The barrier hands the leader's acquisition, and then each lane's writes, to the next
        // lane.
        take_turns(runs, group.turn, [&] { execute(m, m.local(), to_caller[0]); });
        // Release: the barrier hands the lanes' writes to the leader, whose fence comes before its
        // unlock.
        simt::sync_warp(simt::full_warp);  // mutation: lanes-release
        if (taken) {
          simt::fence_block();
          locks_.unlock(lock);
        }
        if (ours) section_runner{ref_}.reply(to_caller);
        waiting = waiting && !ours;
      }
      // No lock is held here: a warp never waits for one lock while it holds another.
      unsigned const left = simt::ballot(simt::full_warp, waiting && me == group.leader);
      if (left == 0) return true;
      if (tries && !taken) ++retries_;
      // Sections are short: most locks are free again before a wait with pauses would end.
      if (taken_by == 0 && ++fruitless % tries_before_wait == 0) {
        bool const hopeful =
            me != static_cast<unsigned>(simt::first_bit(left)) || wait_for({lock, lock});
        if (!simt::ballot(simt::full_warp, !hopeful)) continue;
        return false;
      }
    }
  }

  /// Runs the sections on two records, each lane by itself.
  WARDEN_DEVICE bool run_pairs(typename Ref::message_type const& m, std::uint32_t second,
                               bool waiting) {
    unsigned const a = table::lock_of(m.local()), b = table::lock_of(second);
    unsigned fruitless = 0;
    while (true) {
      bool const taken = waiting && locks_.try_lock(a, b);
      if (taken) {
        typename Ref::reply_type to_caller[1];
        execute(m, second, to_caller[0]);
        // Release, by the thread that ran the section.
        simt::fence_block();  // mutation: pair-fence
        locks_.unlock(a, b);
        section_runner{ref_}.reply(to_caller);
        waiting = false;
      }
      // No lock is held here.
      unsigned const left = simt::ballot(simt::full_warp, waiting);
      if (left == 0) return true;
      if (waiting) ++retries_;
      if (!simt::any(simt::full_warp, taken) && ++fruitless % tries_before_wait == 0) {
        bool const polls = simt::lane_id() == static_cast<unsigned>(simt::first_bit(left));
        if (simt::any(simt::full_warp, polls && !wait_for({a, b}))) return false;
      }
    }
  }

  /// Runs one section. `second` is the other record of a pair, or the message's own.
  WARDEN_DEVICE void execute(typename Ref::message_type const& m, std::uint32_t second,
                             typename Ref::reply_type& to_caller) const {
    auto* const identity = records_.address_of(m.local());
    auto* const other = records_.address_of(second);
    simt::section_enter(identity);
    if (other != identity) simt::section_enter(other);
    section_runner const runner{ref_};
    auto& own = *records_.at(m.local());
    auto const run = [&] {
      runner.apply(m, own, records_.id_of(m.local()), *records_.at(second), to_caller);
    };
    if constexpr (Ref::filters_noops) {
      runner.run_checked(m, own, run);
    } else {
      run();
    }
    if (other != identity) simt::section_leave(other);
    simt::section_leave(identity);
  }

  WARDEN_DEVICE bool wait_for(lock_pair wanted) const {
    return wait_for_locks(ref_, locks_, wanted, number_);
  }

  Ref const& ref_;
  std::uint32_t number_;
  record_store<Ref> records_;
  table locks_;
  std::uint32_t retries_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
