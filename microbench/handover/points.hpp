// SPDX-License-Identifier: Apache-2.0
// The points of the handover benchmark, by the clock that they read.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handover {

inline std::vector<std::string> const arms{"lock_as_written", "lock_tuned", "warden_locks",
                                           "warden_runs", "warden_runs_on_chip"};

// Each in a translation unit of its own: its kernels take long enough to compile.

/// All arms.
std::shared_ptr<bench::point> make_nanoseconds_point(std::string const& workload,
                                                     std::uint32_t keys);
/// The Warden arms: their sections on one record run on one multiprocessor.
std::shared_ptr<bench::point> make_cycles_point(std::string const& workload, std::uint32_t keys);

}  // namespace handover
