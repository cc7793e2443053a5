// SPDX-License-Identifier: Apache-2.0
// Points whose threads call by block clients.

#include "microbench/answers/throughput_point.cuh"

namespace answers {

std::shared_ptr<bench::point> make_block_point(std::uint32_t keys) {
  return std::make_shared<throughput_point<call_by_block>>(keys);
}

}  // namespace answers
