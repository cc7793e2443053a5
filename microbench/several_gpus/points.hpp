// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark of several GPUs.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace several_gpus {

/// Arm of one GPU without `spread`, by the policy with the highest rate.
inline constexpr char best_arm[] = "one_gpu_best";
/// Arm of two GPUs with records on chip while a run executes their sections.
inline constexpr char on_chip_arm[] = "two_gpus_on_chip";
/// Arms by the number of GPUs that hold the records. Each GPU sends the same number of sections.
inline std::vector<std::string> const arms{best_arm,    "one_gpu",   "two_gpus",
                                           on_chip_arm, "four_gpus", "eight_gpus"};
/// Returns the number of GPUs of an arm.
int gpus_of(std::string const& arm);
/// Number of available GPUs; 2 on the simulated device.
int gpus_there();

/// Settings of all points.
struct choices {
  bool has_timeline = false;     ///< record when the phases of a run end
  std::uint32_t partitions = 0;  ///< partitions of a rank's log; 0: the library's choice
};

// Each function is in a translation unit of its own, because its kernels take long to compile.
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
