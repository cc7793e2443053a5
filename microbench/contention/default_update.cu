// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `update` that set no option.

#include "microbench/contention/deferred_arms.cuh"
#include "microbench/contention/points.cuh"

#include <cstdint>
#include <memory>
#include <utility>

namespace contention {

std::shared_ptr<bench::point> make_update_point(bench::workload w, std::uint32_t sections) {
  return std::make_shared<point_of<with_default_arms<update>>>(std::move(w), sections);
}

}  // namespace contention
