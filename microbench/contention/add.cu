// SPDX-License-Identifier: Apache-2.0
// Arms of the operation `add`.

#include "microbench/contention/points.cuh"

#include <cstdint>
#include <memory>
#include <utility>

namespace contention {

std::shared_ptr<bench::point> make_add_point(bench::workload w, std::uint32_t sections) {
  return make_point_of<add>(std::move(w), sections);
}

}  // namespace contention
