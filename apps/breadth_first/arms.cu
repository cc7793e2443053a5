// SPDX-License-Identifier: Apache-2.0
// Arms by name.

#include "apps/breadth_first/arms.cuh"

#include "apps/support/device.cuh"

#include <warden/error.hpp>

#include <algorithm>

namespace breadth_first {

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{
      "gather_serial", "gather_warp",  "gather_scan",         "cull_none",
      "cull_warp",     "cull_history", "queue_threads",       "queue_blocks",
      "warden",        "top_down",     "direction_optimizing"};
  return names;
}
bool looks_back(std::string const& name) { return name == "direction_optimizing"; }
bool is_exact(std::string const& name) { return !name.starts_with("cull_"); }

unsigned search_blocks(warden::runtime::kernel const& kernel, std::size_t shared_bytes) {
  return apps::cooperative_blocks(kernel, search_threads, shared_bytes);
}

std::unique_ptr<arm> make_arm(std::string const& name, search_state const& s,
                              std::source_location where) {
  auto const& names = arm_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string all;
    for (std::string const& n : names) all += (all.empty() ? "" : ", ") + n;
    throw warden::limit_error{"breadth_first: no arm '" + name + "'; there are: " + all, where};
  }
  if (name.starts_with("cull_")) return make_cull_arm(name);
  if (name.starts_with("gather_")) return make_gather_arm(name);
  if (name == "warden") return make_warden_arm(s);
  return make_queue_arm(name);
}

}  // namespace breadth_first
