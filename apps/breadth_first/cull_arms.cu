// SPDX-License-Identifier: Apache-2.0
// Vertices that may be queued more than once.

#include "apps/breadth_first/one_launch.cuh"

namespace breadth_first {

std::unique_ptr<arm> make_cull_arm(std::string const& name) {
  if (name == "cull_none")
    return one_launch<search_policy<gather_by_all, cull_none, queue_by_warps>>();
  if (name == "cull_warp")
    return one_launch<search_policy<gather_by_all, cull_in_warp, queue_by_warps>>();
  return one_launch<search_policy<gather_by_all, cull_by_history, queue_by_warps>>();
}

}  // namespace breadth_first
