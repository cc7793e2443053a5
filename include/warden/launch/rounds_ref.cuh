// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded as the blocks of a run in rounds see it: what any run sees, the bins, and how long a
/// block waits for a part.
#pragma once

#include <warden/channel/log_pairs.cuh>
#include <warden/diagnosis.hpp>
#include <warden/launch/launch_control.cuh>
#include <warden/launch/run_ref.cuh>
#include <warden/launch/watchdog.cuh>
#include <warden/placement.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// `Run` is a run_ref; records of a pair of parts are at `Where` during their game.
template <class Run, placement Where>
struct rounds_ref : Run {
  using typename Run::message_type;

  /// As the run's.
  struct policy : Run::policy {
    static constexpr placement records = Where;  ///< see above
  };

  pair_bins<message_type> bins{};  ///< of the log
  time_limit limit{};              ///< the guarded's

  /// Waits until both parts have played the games before this one; one thread. Whoever they wait
  /// for took its game earlier. False once the run is poisoned, by this wait or another.
  WARDEN_DEVICE bool wait_for_turns(round_game const& game) const {
    std::uint32_t const* const a = &bins.turns[game.a].played;
    std::uint32_t const* const b = &bins.turns[game.b].played;
    auto const have_played = [&] {
      std::uint32_t const played_a = simt::load_relaxed(a), played_b = simt::load_relaxed(b);
      return played_a == game.turn_a && played_b == game.turn_b;  // sabotage: turn-early
    };
    watchdog dog{this->health, limit};
    return simt::wait_until(
        have_played, [&] { return dog.hopeful([&] { return progress(); }, [&] { stop(game); }); },
        [&](auto watch) {
          watch(a);
          watch(b);
        });
  }
  /// The parts have played: whoever plays them next may begin. One thread, behind a barrier with
  /// all those that wrote.
  WARDEN_DEVICE void raise_turns(round_game const& game) const {
    simt::store_relaxed(&bins.turns[game.a].played, game.turn_a + 1);
    if (game.a != game.b) simt::store_relaxed(&bins.turns[game.b].played, game.turn_b + 1);
  }

 private:
  /// Changes whenever a game begins or ends.
  WARDEN_DEVICE std::uint64_t progress() const {
    std::uint64_t sum = simt::load_relaxed(&bins.control->next_game);
    WARDEN_NO_UNROLL
    for (std::uint32_t p = 0; p < bins.parts; ++p) sum += simt::load_relaxed(&bins.turns[p].played);
    return sum;
  }
  /// The part that has not played, and how many games it should have.
  WARDEN_COLD void stop(round_game const& game) const {
    bool const is_a = simt::load_relaxed(&bins.turns[game.a].played) != game.turn_a;
    failed_wait const first{wait_kind::part,
                            simt::block_rank(),
                            simt::thread_rank(),
                            0,
                            is_a ? game.a : game.b,
                            0,
                            is_a ? game.turn_a : game.turn_b,
                            0,
                            0};
    if (!poison(this->health, first)) return;
    this->health->failed.limit_nanoseconds = limit.nanoseconds;
    this->health->failed.member_count = 0;
  }
};

WARDEN_NAMESPACE_END
