// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark of wide records.
#pragma once

#include "microbench/support/point.hpp"
#include "microbench/support/workload.cuh"

#include <memory>
#include <string>
#include <vector>

namespace wide_records {

inline std::vector<std::string> const arm_names{
    "lock_warp",           "lock_warp_checked",    "warden_thread",
    "warden_lanes",        "warden_lanes_on_chip", "warden_lanes_locks",
    "warden_fused_thread", "warden_fused_lanes"};

// Each function is in a translation unit of its own, because its kernels take long to compile.

/// Sorted insertion into lists of neighbours, of 256 bytes each.
std::shared_ptr<bench::point> make_neighbours_point(bench::workload w);
/// Requests of sets of a cache, of 1 KB each.
std::shared_ptr<bench::point> make_cache_point(bench::workload w);

}  // namespace wide_records
