// SPDX-License-Identifier: Apache-2.0
// Arms with other policies of queues, and the default policy top-down and in both directions.

#include "apps/breadth_first/one_launch.cuh"

namespace breadth_first {

std::unique_ptr<arm> make_queue_arm(std::string const& name) {
  if (name == "queue_threads")
    return one_launch<search_policy<gather_by_all, cull_all, queue_by_threads>>();
  if (name == "queue_blocks")
    return one_launch<search_policy<gather_by_all, cull_all, queue_by_blocks>>();
  if (name == "direction_optimizing")
    return one_launch<search_policy<gather_by_all, cull_all, queue_by_warps, true>>();
  return one_launch<search_policy<gather_by_all, cull_all, queue_by_warps>>();
}

}  // namespace breadth_first
