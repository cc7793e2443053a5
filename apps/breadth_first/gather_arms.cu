// SPDX-License-Identifier: Apache-2.0
// Other ways to share the arcs of a frontier.

#include "apps/breadth_first/one_launch.cuh"

namespace breadth_first {

std::unique_ptr<arm> make_gather_arm(std::string const& name) {
  if (name == "gather_serial")
    return one_launch<search_policy<gather_serial, cull_all, queue_by_warps>>();
  if (name == "gather_warp")
    return one_launch<search_policy<gather_warp, cull_all, queue_by_warps>>();
  return one_launch<search_policy<gather_by_scan, cull_all, queue_by_warps>>();
}

}  // namespace breadth_first
