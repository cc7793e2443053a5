// SPDX-License-Identifier: Apache-2.0
// The points of the benchmark of several GPUs.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace several_gpus {

/// One GPU without `spread`, by the policy with the highest rate.
inline constexpr char best_arm[] = "one_gpu_best";
/// Two GPUs with records on chip while a run executes their sections.
inline constexpr char on_chip_arm[] = "two_gpus_on_chip";
/// Number of GPUs that hold the records; each sends as many sections.
inline std::vector<std::string> const arms{best_arm,    "one_gpu",   "two_gpus",
                                           on_chip_arm, "four_gpus", "eight_gpus"};
/// Returns that number.
int gpus_of(std::string const& arm);
/// GPUs that there are; a simulated one is two.
int gpus_there();

/// Settings of all points.
struct choices {
  bool has_timeline = false;     ///< record when the phases of a run end
  std::uint32_t partitions = 0;  ///< partitions of a rank's log; 0: the library's choice
};

// Each in a translation unit of its own: their kernels take long enough to compile.
std::shared_ptr<bench::point> make_push_point(std::string const& workload, std::uint32_t keys,
                                              choices const& chosen);
std::shared_ptr<bench::point> make_add_point(std::string const& workload, std::uint32_t keys,
                                             choices const& chosen);
std::shared_ptr<bench::point> make_count_point(std::string const& workload, std::uint32_t keys,
                                               choices const& chosen);
std::shared_ptr<bench::point> make_transfer_point(std::string const& workload, std::uint32_t keys,
                                                  choices const& chosen);
std::shared_ptr<bench::point> make_update_point(std::string const& workload, std::uint32_t keys,
                                                choices const& chosen);

}  // namespace several_gpus
