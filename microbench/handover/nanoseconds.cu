// SPDX-License-Identifier: Apache-2.0
// The points that read the clock of all multiprocessors.

#include "microbench/handover/point.cuh"

namespace handover {

std::shared_ptr<bench::point> make_nanoseconds_point(std::string const& workload,
                                                     std::uint32_t keys) {
  return std::make_shared<point_of<bench::nanosecond_clock>>(
      bench::workload::named(workload, keys, ""));
}

}  // namespace handover
