// SPDX-License-Identifier: Apache-2.0
/// @file
/// What one lane's wait tells its warp.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// How a server's wait for messages ended.
enum class wait_outcome : unsigned {
  go_on,     ///< something has come, or there is something to release
  ended,     ///< the work has ended
  poisoned,  ///< the launch was stopped
};

/// What a wait that is still `alive`, or not, has found.
WARDEN_DEVICE wait_outcome outcome_of(bool alive, bool ended) {
  if (!alive) return wait_outcome::poisoned;
  return ended ? wait_outcome::ended : wait_outcome::go_on;
}
/// What `lane` has found, for its whole warp. Collective over the warp.
WARDEN_DEVICE wait_outcome outcome_of_lane(wait_outcome mine, unsigned lane) {
  return static_cast<wait_outcome>(
      simt::shuffle(simt::full_warp, static_cast<unsigned>(mine), lane));
}

}  // namespace detail
WARDEN_NAMESPACE_END
