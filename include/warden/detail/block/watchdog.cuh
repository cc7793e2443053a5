// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bounded waiting: how a wait finds out that nothing moves any more, and how it then stops the
/// whole launch.
#pragma once

#include <warden/diagnosis.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// How long a wait may last without any progress of the launch before the launch is poisoned.
struct time_limit {
  std::uint64_t nanoseconds = 10'000'000'000ull;  ///< without progress
  /// Time alone is no proof: a preempted thread must also have looked this often.
  std::uint32_t minimum_polls = 4096;
};

namespace detail {

/// The health of a launch, in device memory; zero while all is well.
struct launch_health {
  std::uint32_t poisoned;  ///< 0, or 1 from the first failed wait on
  std::uint32_t pad;       ///< always 0
  failed_wait first;       ///< written by the thread that poisoned
};

/// True if the launch was stopped. One relaxed load.
WARDEN_DEVICE bool is_poisoned(launch_health const* health) {
  return simt::load_relaxed(&health->poisoned) != 0;
}

/// Poisons, unless that has happened before: then false.
WARDEN_DEVICE bool poison(launch_health* health, failed_wait const& first) {
  if (simt::compare_exchange(&health->poisoned, 0u, 1u) != 0u) return false;
  health->first = first;  // only the host reads this, after the kernel has ended
  return true;
}

/// The state of one wait. Make one for each wait; ask `hopeful` every 64 polls (wait_until does).
class watchdog {
 public:
  /// Polls between two questions.
  static constexpr unsigned polls_per_look = 64;

  /// The time begins with the first question.
  WARDEN_DEVICE watchdog(launch_health const* health, time_limit limit)
      : health_{health}, limit_{limit} {}

  /// Returns false once the launch is poisoned, by this call or by another thread. `progress()`
  /// returns a number that changes whenever the launch makes progress. Reading it is slow and stops
  /// the polling, so it is read eight times in a time limit, and not at all by a wait that ends
  /// within an eighth. `stop()` poisons the launch.
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
