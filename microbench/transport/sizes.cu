// SPDX-License-Identifier: Apache-2.0
// Messages of several flits.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

namespace {
template <int Flits>
std::shared_ptr<bench::point> make(unsigned servers) {
  return std::make_shared<
      throughput_point<in_band, windows, Flits, send_by<block_level, Flits>, send_unsorted<Flits>>>(
      servers);
}
}  // namespace

std::shared_ptr<bench::point> make_size_point(int flits, unsigned servers) {
  return flits == 2 ? make<2>(servers) : flits == 3 ? make<3>(servers) : make<4>(servers);
}

}  // namespace transport
