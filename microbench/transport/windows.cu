// SPDX-License-Identifier: Apache-2.0
// Messages of 16 bytes, received by windows.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

std::shared_ptr<bench::point> make_windows_point(unsigned servers) {
  return std::make_shared<throughput_point<in_band, windows, 1, send_by<block_level, 1>,
                                           send_by<thread_level, 1>, send_unsorted<1>>>(servers);
}

}  // namespace transport
