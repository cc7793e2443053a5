// SPDX-License-Identifier: Apache-2.0
// Points by the name of their operation.

#include "microbench/contention/points.cuh"

namespace contention {

std::vector<std::string> const& arms() { return arm_names; }

std::shared_ptr<bench::point> make_point(std::string const& operation, std::string const& workload,
                                         std::uint32_t keys, std::string const& file) {
  if (operation == "push") return make_push_point(workload, keys, file);
  if (operation == "add") return make_add_point(workload, keys, file);
  return make_update_point(workload, keys, file);
}

}  // namespace contention
