// SPDX-License-Identifier: Apache-2.0
// Points of the record size benchmark.
#pragma once

#include "microbench/record_size/arm.hpp"
#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace record_size {

inline std::vector<std::string> const arm_names{"lock_tuned", "warden_locks", "warden_runs"};
inline std::vector<unsigned> const sizes{8, 32, 128, 1024};

/// Sections that change every word of records of `bytes` bytes, one of `sizes`.
std::shared_ptr<bench::point> make_point(unsigned bytes, std::uint32_t keys);

}  // namespace record_size
