// SPDX-License-Identifier: Apache-2.0
// Messages with a single tag per flit, received by windows.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/points.hpp"
#include "microbench/transport/throughput_point.cuh"

namespace transport {

namespace {
template <int Flits>
std::shared_ptr<bench::point> make_tagged(unsigned servers) {
  return std::make_shared<throughput_point<single_tag, windows, Flits, send_by<block_level, Flits>,
                                           send_unsorted<Flits>>>(servers);
}
}  // namespace

std::shared_ptr<bench::point> make_single_tag_point(int flits, unsigned servers) {
  return flits == 1 ? make_tagged<1>(servers) : make_tagged<2>(servers);
}

}  // namespace transport
