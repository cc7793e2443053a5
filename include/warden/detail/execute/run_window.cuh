// SPDX-License-Identifier: Apache-2.0
/// @file
/// Size of the windows of the blocks of a launch or a deferred run.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Size of windows: as large as the policy says, or halved until a block fits the device's shared
/// memory. Outboxes are not halved, but omitted if they do not fit: with a size that is known at
/// run time only, the compiler would copy a client's flush into each iteration of a loop, and spill
/// registers.
struct run_window {
  /// Halvings after which a window of 32 messages for each thread has 1, the least.
  static constexpr unsigned most_halvings = 5;

  std::uint32_t window_halvings = 0;  ///< filled by the host

  /// Returns `per_thread` halved `times` times, but 1 at least.
  WARDEN_HOST_DEVICE static constexpr unsigned halved(unsigned per_thread, unsigned times) {
    return per_thread >> times == 0 ? 1 : per_thread >> times;
  }
  /// Returns the messages of a thread in a window of an executor whose largest number is `most`.
  WARDEN_HOST_DEVICE unsigned window_per_thread(unsigned most) const {
    return halved(most, window_halvings);
  }
  /// Returns the least number of halvings after which `bytes(halvings)` is at most `room`;
  /// most_halvings if no window is small enough.
  template <class Bytes>
  static unsigned fitting(std::size_t room, Bytes bytes) {
    unsigned halvings = 0;
    while (halvings < most_halvings && bytes(halvings) > room) ++halvings;
    return halvings;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
