// SPDX-License-Identifier: Apache-2.0
// Messages of 16 bytes that a leader warp finds by a bit-mask.

#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

std::shared_ptr<bench::point> make_bitmask_point(unsigned servers) {
  return std::make_shared<throughput_point<bitmask, leader, 1, send_by<block_level, 1>>>(servers);
}

}  // namespace transport
