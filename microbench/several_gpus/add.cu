// SPDX-License-Identifier: Apache-2.0
// `add` on several GPUs, whose sections combine.

#include "microbench/several_gpus/point.cuh"

namespace several_gpus {

std::shared_ptr<bench::point> make_add_point(std::string const& workload, std::uint32_t keys,
                                             choices const& chosen) {
  return std::make_shared<point_of<contention::add>>(workload, keys, chosen);
}

}  // namespace several_gpus
