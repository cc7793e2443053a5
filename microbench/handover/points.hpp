// SPDX-License-Identifier: Apache-2.0
// Points of the handover benchmark, by their sections and the clock that they read.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handover {

/// Arms of sections on one record.
inline std::vector<std::string> const single_arms{"lock_as_written", "lock_tuned", "warden_locks",
                                                  "warden_runs", "warden_runs_on_chip"};
/// Arms of sections on two records.
inline std::vector<std::string> const pair_arms{"lock_as_written", "lock_tuned",
                                                "lock_ordered",    "warden_colocated",
                                                "warden_nested",   "warden_nested_on_chip"};

// Each function is in a translation unit of its own, because its kernels take long to compile.

/// Sections on one record, in nanoseconds; all arms.
std::shared_ptr<bench::point> make_nanoseconds_point(std::string const& workload,
                                                     std::uint32_t keys);
/// The sections of `forest_sections`, in nanoseconds. `name` is the name of the row; each record is
/// a key. Throws std::runtime_error if `sections` is empty.
std::shared_ptr<bench::point> make_forest_point(std::string const& name,
                                                std::vector<std::uint32_t> const& sections);
/// Sections on one record, in cycles. Only Warden arms, which run all sections on a record on one
/// multiprocessor.
std::shared_ptr<bench::point> make_cycles_point(std::string const& workload, std::uint32_t keys);
/// Sections on two records, in nanoseconds, because those of one record run on several
/// multiprocessors.
std::shared_ptr<bench::point> make_pairs_point(std::string const& workload, std::uint32_t keys);

}  // namespace handover
