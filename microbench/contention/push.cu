// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `push`.

#include "microbench/contention/points.cuh"

#include <cstdint>
#include <memory>
#include <utility>

namespace contention {

std::shared_ptr<bench::point> make_push_point(bench::workload w, std::uint32_t sections) {
  return make_point_of<push>(std::move(w), sections);
}

}  // namespace contention
