// SPDX-License-Identifier: Apache-2.0
// Points by the name of their operation.

#include "microbench/contention/points.cuh"

#include <utility>

namespace contention {

std::vector<std::string> const& arms() { return arm_names; }

std::shared_ptr<bench::point> make_point(std::string const& operation, std::string const& workload,
                                         std::uint32_t keys, std::string const& file,
                                         std::uint32_t sections) {
  auto w = bench::workload::named(workload, keys, file);
  if (operation == "push") return make_push_point(std::move(w), sections);
  if (operation == "add") return make_add_point(std::move(w), sections);
  if (operation == "update_mask") return make_update_mask_point(std::move(w), sections);
  return make_update_point(std::move(w), sections);
}

}  // namespace contention
