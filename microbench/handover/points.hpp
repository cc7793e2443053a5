// SPDX-License-Identifier: Apache-2.0
// The points of the handover benchmark, by their sections and the clock that they read.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handover {

/// For sections on one record.
inline std::vector<std::string> const single_arms{"lock_as_written", "lock_tuned", "warden_locks",
                                                  "warden_runs", "warden_runs_on_chip"};
/// For sections on two.
inline std::vector<std::string> const pair_arms{"lock_as_written", "lock_tuned",
                                                "lock_ordered",    "warden_colocated",
                                                "warden_nested",   "warden_nested_on_chip"};

// Each in a translation unit of its own: its kernels take long enough to compile.

/// All arms.
std::shared_ptr<bench::point> make_nanoseconds_point(std::string const& workload,
                                                     std::uint32_t keys);
/// A point for the sections of `sections_of_rounds`: the row `name`, with a key for each record.
/// Throws std::runtime_error if there are none.
std::shared_ptr<bench::point> make_forest_point(std::string const& name,
                                                std::vector<std::uint32_t> const& sections);
/// The Warden arms: their sections on one record run on one multiprocessor.
std::shared_ptr<bench::point> make_cycles_point(std::string const& workload, std::uint32_t keys);
/// Sections on two records, in nanoseconds: those on one record run on several multiprocessors.
std::shared_ptr<bench::point> make_pairs_point(std::string const& workload, std::uint32_t keys);

}  // namespace handover
