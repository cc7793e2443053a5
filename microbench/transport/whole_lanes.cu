// SPDX-License-Identifier: Apache-2.0
// Messages of lanes that are one access each, received by windows.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

namespace {
template <int Lanes>
std::shared_ptr<bench::point> make(unsigned servers) {
  return std::make_shared<throughput_point<whole_lanes, windows, Lanes, send_by<block_level, Lanes>,
                                           send_unsorted<Lanes>>>(servers);
}
}  // namespace

std::shared_ptr<bench::point> make_whole_lanes_point(int lanes, unsigned servers) {
  return lanes == 1 ? make<1>(servers) : make<2>(servers);
}

}  // namespace transport
