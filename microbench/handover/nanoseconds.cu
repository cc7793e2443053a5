// SPDX-License-Identifier: Apache-2.0
// Points that read the clock that all multiprocessors share.

#include "microbench/handover/point.cuh"

#include <stdexcept>

namespace handover {

std::shared_ptr<bench::point> make_nanoseconds_point(std::string const& workload,
                                                     std::uint32_t keys) {
  return std::make_shared<point_of<bench::nanosecond_clock>>(
      bench::workload::named(workload, keys, ""));
}
std::shared_ptr<bench::point> make_forest_point(std::string const& name,
                                                std::vector<std::uint32_t> const& sections) {
  if (sections.empty())
    throw std::runtime_error{name +
                             ": the graph has no section to measure, its forest takes one "
                             "iteration; choose a larger --scale"};
  return std::make_shared<point_of<bench::nanosecond_clock>>(
      bench::workload::sequence(name, sections));
}

}  // namespace handover
