// SPDX-License-Identifier: Apache-2.0
// The points of the benchmark of deferred sections.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deferred_bench {

/// How a kernel sends: the threads of a block together; each thread by itself, at the same time
/// as the other lanes of its warp; or after them.
inline std::vector<std::string> const senders{"block", "thread", "lone_lanes"};
/// Samples that blocks send are not combined; or they combine, and are sent as wide as a partial;
/// or they combine to a partial that is wider than they are.
inline std::vector<std::string> const sample_arms{"uncombined", "combined_as_wide",
                                                  "combined_wider"};
/// Bytes of a message.
inline std::vector<unsigned> const sizes{8, 16};

/// Sending alone: the kernel is timed, not the run. And what the kernel takes.
std::shared_ptr<bench::point> make_send_point(unsigned bytes, std::uint32_t keys);
/// Kernel and run together, of 1,024 sections.
std::shared_ptr<bench::point> make_small_point(bool on_chip, std::uint32_t keys);
/// Kernel and run together, of samples on `keys` records, drawn all alike or by Zipf's law (0.99).
std::shared_ptr<bench::point> make_sample_point(bool uniform, std::uint32_t keys);
/// Memory of a log.
std::shared_ptr<bench::point> make_memory_point(unsigned bytes, std::uint32_t keys);

}  // namespace deferred_bench
