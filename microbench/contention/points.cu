// SPDX-License-Identifier: Apache-2.0
// Points of the program `contention`, which has all operations and arms.

#include "microbench/contention/points.cuh"

#include <utility>

namespace contention {

std::vector<std::string> operations() { return {"push", "add", "update", "update_mask"}; }
std::vector<std::string> more_arms() {
  return {"warden_paper",
          "warden_locks",
          "warden_runs",
          "warden_runs_on_chip",
          "warden_runs_combined",
          "warden_atomics",
          "warden_atomics_on_chip",
          "warden_deferred",
          "warden_deferred_on_chip",
          "warden_deferred_threads",
          "warden_deferred_sequential",
          "warden_deferred_combined"};
}

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
