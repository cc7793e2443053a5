// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device view of a run in rounds: the view of any run, the bins, and the wait for tiles.
#pragma once

#include <warden/detail/block/watchdog.cuh>
#include <warden/detail/deferred/run_ref.cuh>
#include <warden/detail/execute/guarded_health.cuh>
#include <warden/detail/execute/placement.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A log's sections as the blocks of a run in rounds see them. `Run` is a run_pairs_ref or a
/// run_between_ref. Records of a tile pair's tiles are at `Where`.
template <class Run, placement Where>
struct rounds_ref : Run {
  using typename Run::message_type;
  /// Nothing is combined.
  using partials = rounds_ref;

  /// Bins of the messages.
  using bins_type = pair_bins<message_type, typename Run::schedule>;

  /// The run's policy, with records at `Where`.
  struct policy : Run::policy {
    static constexpr placement records = Where;  ///< placement during a tile pair
  };

  bins_type bins{};    ///< bins of the log
  time_limit limit{};  ///< the guarded array's

  /// Waits until the earlier tile pairs of both tiles have finished. Called by one thread. The
  /// blocks that it waits for took their tile pairs earlier. Returns false if the run is poisoned,
  /// by this wait or another.
  WARDEN_DEVICE bool wait_for_tiles(scheduled_pair const& tile_pair) const {
    std::uint32_t const* const a = &bins.progress[tile_pair.a].finished;
    std::uint32_t const* const b = &bins.progress[tile_pair.b].finished;
    auto const have_finished = [&] {
      std::uint32_t const finished_a = simt::load_relaxed(a), finished_b = simt::load_relaxed(b);
      return finished_a == tile_pair.earlier_a &&
             finished_b == tile_pair.earlier_b;  // mutation: turn-early
    };
    bool const waits_for_a = simt::load_relaxed(a) != tile_pair.earlier_a;
    return wait_until(
        have_finished,
        [&](auto watch) {
          watch(a);
          watch(b);
        },
        wait_kind::record_tile, waits_for_a ? tile_pair.a : tile_pair.b,
        waits_for_a ? tile_pair.earlier_a : tile_pair.earlier_b);
  }
  /// Waits for `predicate` as long as the run makes progress. Returns false if the run is poisoned.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t tile, std::uint64_t index) const {
    watchdog dog{this->health, limit};
    return simt::wait_until(
        predicate,
        [&] {
          return dog.hopeful([&] { return progress(); },
                             [&] {
                               stop(this->health, limit.nanoseconds, kind, tile, index);
                               // The records of both arrays may be partly updated.
                               if constexpr (Run::two_arrays)
                                 stop(this->second.health, limit.nanoseconds, kind, tile, index);
                             });
        },
        watch);
  }
  /// Notes that a block has run a window of sections. Called by one thread.
  WARDEN_DEVICE void note_window() const { simt::fetch_add(&bins.control->windows, 1u); }
  /// Releases the tiles of a finished tile pair: the next tile pair of each may begin. Called by
  /// one thread. Precondition: a barrier with all threads that wrote, and then a fence of the
  /// calling thread, which is the release.
  WARDEN_DEVICE void release_tiles(scheduled_pair const& tile_pair) const {
    simt::store_relaxed(&bins.progress[tile_pair.a].finished, tile_pair.earlier_a + 1);
    if (tile_pair.a != tile_pair.b)
      simt::store_relaxed(&bins.progress[tile_pair.b].finished, tile_pair.earlier_b + 1);
  }

 private:
  /// Returns a number that changes whenever a tile pair begins, or a window of one has run.
  WARDEN_DEVICE std::uint64_t progress() const {
    return simt::load_relaxed(&bins.control->next_tile_pair) +
           std::uint64_t{simt::load_relaxed(&bins.control->windows)};
  }
  /// By value, because an argument that is passed by address would be in local memory everywhere.
  WARDEN_COLD static void stop(guarded_health* health, std::uint64_t nanoseconds, wait_kind kind,
                               std::uint32_t tile, std::uint64_t index) {
    failed_wait const first{kind, simt::block_rank(), simt::thread_rank(), 0, tile, 0, index, 0,
                            0,    wait_kind::nothing};
    if (!poison(health, first)) return;
    health->failed.limit_nanoseconds = nanoseconds;
    health->failed.member_count = 0;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
