// SPDX-License-Identifier: Apache-2.0
// Points whose threads call by thread clients.

#include "microbench/answers/throughput_point.cuh"

namespace answers {

std::shared_ptr<bench::point> make_thread_point(std::uint32_t keys) {
  return std::make_shared<throughput_point<call_by_thread>>(keys);
}

}  // namespace answers
