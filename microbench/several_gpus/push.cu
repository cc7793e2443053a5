// SPDX-License-Identifier: Apache-2.0
// Operation `push` on several GPUs.

#include "microbench/several_gpus/point.cuh"
#include "microbench/several_gpus/rank.cuh"
#include "microbench/several_gpus/single_gpu.cuh"

namespace several_gpus {

std::shared_ptr<bench::point> make_push_point(std::string const& workload, std::uint32_t keys,
                                              choices const& chosen) {
  using operation = contention::push;
  using on_chip = rank<operation, warden::placement::on_chip>;
  return std::make_shared<point_of<rank<operation>, on_chip, single_gpu<operation>>>(workload, keys,
                                                                                     chosen);
}

}  // namespace several_gpus
