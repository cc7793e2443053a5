// SPDX-License-Identifier: Apache-2.0
// Points of the program `contention_default`, which has the arms of `./warden bench` alone, because
// the others take long to compile.

#include "microbench/contention/points.cuh"

#include <utility>

namespace contention {

std::vector<std::string> operations() { return {"push", "add", "update"}; }
std::vector<std::string> more_arms() { return {}; }

std::shared_ptr<bench::point> make_point(std::string const& operation, std::string const& workload,
                                         std::uint32_t keys, std::string const& file,
                                         std::uint32_t sections) {
  auto w = bench::workload::named(workload, keys, file);
  if (operation == "push") return make_push_point(std::move(w), sections);
  if (operation == "add") return make_add_point(std::move(w), sections);
  return make_update_point(std::move(w), sections);
}

}  // namespace contention
