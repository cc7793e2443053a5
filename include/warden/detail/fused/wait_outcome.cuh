// SPDX-License-Identifier: Apache-2.0
/// @file
/// Result of one lane's wait, shared with its warp.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Result of a server's wait for messages.
enum class wait_outcome : unsigned {
  go_on,     ///< a message has come, or there is something to release
  ended,     ///< the work has ended
  poisoned,  ///< the launch was stopped
};

/// Returns the result of a wait. `alive` is false if the launch is poisoned, `ended` is true if the
/// work has ended.
WARDEN_DEVICE wait_outcome outcome_of(bool alive, bool ended) {
  if (!alive) return wait_outcome::poisoned;
  return ended ? wait_outcome::ended : wait_outcome::go_on;
}
/// Returns the result of `lane` to its whole warp. Collective over the warp.
WARDEN_DEVICE wait_outcome outcome_of_lane(wait_outcome mine, unsigned lane) {
  return static_cast<wait_outcome>(
      simt::shuffle(simt::full_warp, static_cast<unsigned>(mine), lane));
}

}  // namespace detail
WARDEN_NAMESPACE_END
