// SPDX-License-Identifier: Apache-2.0
// Messages of 16 bytes, received by slices.

#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

std::shared_ptr<bench::point> make_slices_point(unsigned servers) {
  return std::make_shared<
      throughput_point<in_band, slices, 1, send_by<block_level, 1>, send_by<thread_level, 1>>>(
      servers);
}

}  // namespace transport
