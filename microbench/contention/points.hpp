// SPDX-License-Identifier: Apache-2.0
// Points of the contention benchmark, by the names of their operations.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contention {

/// Names of the program's operations.
std::vector<std::string> operations();
/// Names of the arms that the program measures only if `--arms` names them.
std::vector<std::string> more_arms();

/// Makes a point. `file` holds the ids of a workload that is not drawn, and is empty for others.
/// `keys` is the number of records of workloads without a fixed number. Each repetition runs
/// `sections` operations; 0 lets trial repetitions choose the number. Throws std::runtime_error.
std::shared_ptr<bench::point> make_point(std::string const& operation, std::string const& workload,
                                         std::uint32_t keys, std::string const& file,
                                         std::uint32_t sections);

}  // namespace contention
