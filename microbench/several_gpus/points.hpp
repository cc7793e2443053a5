// SPDX-License-Identifier: Apache-2.0
// The points of the benchmark of several GPUs.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace several_gpus {

/// How many GPUs hold the records; each sends as many sections.
inline std::vector<std::string> const arms{"one_gpu", "two_gpus", "four_gpus", "eight_gpus"};
/// That number.
int gpus_of(std::string const& arm);
/// GPUs that there are; a simulated one is two.
int gpus_there();

// Each in a translation unit of its own: their kernels take long enough to compile.
std::shared_ptr<bench::point> make_push_point(std::string const& workload, std::uint32_t keys,
                                              bool has_timeline);
std::shared_ptr<bench::point> make_update_point(std::string const& workload, std::uint32_t keys,
                                                bool has_timeline);

}  // namespace several_gpus
