// SPDX-License-Identifier: Apache-2.0
// Points that read the clock of one multiprocessor.

#include "microbench/handover/point.cuh"

namespace handover {

std::shared_ptr<bench::point> make_cycles_point(std::string const& workload, std::uint32_t keys) {
  return std::make_shared<point_of<bench::cycle_clock>>(bench::workload::named(workload, keys, ""));
}

}  // namespace handover
