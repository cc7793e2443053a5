// SPDX-License-Identifier: Apache-2.0
// Ends the program if device code runs for long without a scheduling point: a loop that calls
// nothing of the platform layer, which nothing else can stop.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <atomic>
#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

class machine;

/// Watches the machine that runs, on the thread that makes it, as long as it lives. One at a time.
class watchdog {
 public:
  /// `seconds` without a sign of life end the program; 0: never.
  watchdog(machine const& running, std::uint64_t seconds);
  ~watchdog();
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;

  /// The machine has taken a step, or another of its threads runs. Only for the watched thread.
  static void sign_of_life() {
    signs_.store(signs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  friend struct watcher;
  static inline std::atomic<std::uint64_t> signs_{0};
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
