// SPDX-License-Identifier: Apache-2.0
// Messages of several lanes.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

namespace {
template <int Lanes>
std::shared_ptr<bench::point> make(unsigned servers) {
  return std::make_shared<
      throughput_point<in_band, windows, Lanes, send_by<block_level, Lanes>, send_unsorted<Lanes>>>(
      servers);
}
}  // namespace

std::shared_ptr<bench::point> make_size_point(int lanes, unsigned servers) {
  return lanes == 2 ? make<2>(servers) : lanes == 3 ? make<3>(servers) : make<4>(servers);
}

}  // namespace transport
