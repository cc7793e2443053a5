// SPDX-License-Identifier: Apache-2.0
// The points of the benchmark of deferred sections.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deferred_bench {

/// How the kernel sends: the threads of a block together; each thread by itself, at the same time
/// as the other lanes of its warp; or after them.
inline std::vector<std::string> const arms{"block", "thread", "lone_lanes"};
/// Bytes of a message.
inline std::vector<unsigned> const sizes{8, 16};

/// Sending alone: the kernel is timed, not the run. And what the kernel takes.
std::shared_ptr<bench::point> make_send_point(unsigned bytes, std::uint32_t keys);
/// Kernel and run together, of 1,024 sections.
std::shared_ptr<bench::point> make_small_point(bool on_chip, std::uint32_t keys);
/// What a log takes.
std::shared_ptr<bench::point> make_memory_point(unsigned bytes, std::uint32_t keys);

}  // namespace deferred_bench
