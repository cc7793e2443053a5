// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark of deferred sections.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deferred_bench {

/// Ways of a kernel to send. `block`: the threads of a block send together. `thread`: each thread
/// sends alone, concurrently with the other lanes of its warp. `lone_lanes`: the lanes of a warp
/// send one by one.
inline std::vector<std::string> const senders{"block", "thread", "lone_lanes"};
/// Ways to send samples by blocks: not combined; combined, and sent in messages as wide as a
/// partial; combined to partials that are wider than the sent messages.
inline std::vector<std::string> const sample_arms{"uncombined", "combined_as_wide",
                                                  "combined_wider"};
/// Sizes of a message in bytes.
inline std::vector<unsigned> const sizes{8, 16};

/// Sending: the kernel is timed, without the run. Also reports the resources of the kernel.
std::shared_ptr<bench::point> make_send_point(unsigned bytes, std::uint32_t keys);
/// Kernel and run together, for 1,024 sections.
std::shared_ptr<bench::point> make_small_point(bool on_chip, std::uint32_t keys);
/// Kernel and run together, for samples on `keys` records, drawn uniformly or by Zipf's law (0.99).
std::shared_ptr<bench::point> make_sample_point(bool uniform, std::uint32_t keys);
/// Memory of a log.
std::shared_ptr<bench::point> make_memory_point(unsigned bytes, std::uint32_t keys);

}  // namespace deferred_bench
