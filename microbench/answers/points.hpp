// SPDX-License-Identifier: Apache-2.0
// Points of the answers benchmark.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace answers {

inline std::vector<std::string> const arms{"warden_locks", "warden_runs"};

// Each function is in a translation unit of its own, because its kernels take long to compile.

/// Time from just before a call to just after its answer, for one thread on otherwise idle servers.
/// In nanoseconds of the clock that all multiprocessors share, or in cycles of the caller's
/// multiprocessor.
std::shared_ptr<bench::point> make_latency_point(bool by_cycles, std::uint32_t keys);
/// Calls per second, with all client threads calling.
std::shared_ptr<bench::point> make_block_point(std::uint32_t keys);
std::shared_ptr<bench::point> make_thread_point(std::uint32_t keys);

}  // namespace answers
