// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bounded waiting: a wait detects that nothing makes progress any more, and then stops the whole
/// launch.
#pragma once

#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Longest wait without any progress of the launch before the launch is poisoned.
struct time_limit {
  std::uint64_t nanoseconds = 10'000'000'000ull;  ///< time without progress
  /// Polls that a thread must also have made: time alone is no proof, because the thread may have
  /// been preempted.
  std::uint32_t minimum_polls = 4096;
};

namespace detail {

/// The health of a launch, in device memory; zero without a failure.
struct launch_health {
  std::uint32_t poisoned;  ///< 0, or 1 from the first failed wait on
  std::uint32_t pad;       ///< always 0
  failed_wait first;       ///< written by the thread that poisoned the launch
};

/// True if the launch was stopped. One relaxed load.
WARDEN_DEVICE bool is_poisoned(launch_health const* health) {
  return simt::load_relaxed(&health->poisoned) != 0;
}

/// Poisons the launch. Returns false if it was poisoned before.
WARDEN_DEVICE bool poison(launch_health* health, failed_wait const& first) {
  if (simt::compare_exchange(&health->poisoned, 0u, 1u) != 0u) return false;
  health->first = first;  // only the host reads this, after the kernel has ended
  return true;
}

/// State of one wait. Make one for each wait, and call `hopeful` every 64 polls, as wait_until
/// does.
class watchdog {
 public:
  /// Polls between two calls of `hopeful`.
  static constexpr unsigned polls_per_look = 64;

  /// The time begins with the first call of `hopeful`.
  WARDEN_DEVICE watchdog(launch_health const* health, time_limit limit)
      : health_{health}, limit_{limit} {}

  /// Returns false once the launch is poisoned, by this call or by another thread. `progress()`
  /// returns a number that changes whenever the launch makes progress. Reading it is slow and
  /// interrupts the polling, so it is read 8 times in a time limit, and never by a wait that ends
  /// within 1/8 of it. `stop()` poisons the launch.
  template <class Progress, class Stop>
  WARDEN_DEVICE bool hopeful(Progress progress, Stop stop) {
    if (is_poisoned(health_)) return false;
    std::uint64_t const now = simt::nanoseconds();
    polls_ += polls_per_look;
    if (now < next_look_) return true;
    bool const is_first = next_look_ == 0;
    next_look_ = now + limit_.nanoseconds / 8 + 1;
    if (is_first) return true;
    std::uint64_t const seen = progress();
    if (seen != last_seen_ || last_progress_ == 0) {
      last_seen_ = seen;
      last_progress_ = now;
      polls_ = 0;
      return true;
    }
    if (now - last_progress_ < limit_.nanoseconds || polls_ < limit_.minimum_polls) return true;
    stop();
    return false;
  }

 private:
  launch_health const* health_;
  time_limit limit_;
  std::uint64_t last_seen_ = 0;
  std::uint64_t last_progress_ = 0;
  std::uint64_t next_look_ = 0;
  std::uint32_t polls_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
