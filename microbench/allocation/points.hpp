// SPDX-License-Identifier: Apache-2.0
// The points of the allocation benchmark, each of its parts in translation units of its own.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace allocation {

inline std::vector<std::string> const arms{"memcpy",
                                           "copy",
                                           "global_atomic",
                                           "global_atomic_compiled",
                                           "shared_atomic",
                                           "shared_atomic_compiled",
                                           "block_scan",
                                           "atomics",
                                           "atomics_combined",
                                           "shared_atomics",
                                           "cub_histogram",
                                           "cub_sort",
                                           "thread_atomic",
                                           "warp_atomic",
                                           "unordered",
                                           "ordered",
                                           "reduce_then_scan",
                                           "cub_block_decode",
                                           "cub_batched_copy",
                                           "warden_runs",
                                           "warden_deferred_combined"};

/// A copy of `elements` elements of 4 bytes, one of every `each` of which adds to a counter; `each`
/// is a power of two.
std::shared_ptr<bench::point> make_copy_point(std::uint32_t elements, std::uint32_t each);
/// Items that emit elements, as many as a spread of item_counts.hpp says.
std::shared_ptr<bench::point> make_emit_point(std::string const& spread);
/// Runs, as long as a spread says and an element more, that are decoded.
std::shared_ptr<bench::point> make_decode_point(std::string const& spread);
/// Items that take places of `counters` counters, all hit alike.
std::shared_ptr<bench::point> make_take_point(std::uint32_t counters);
/// Counts of each value among samples that are `uniform`, `zipf099`, or all `one`.
std::shared_ptr<bench::point> make_histogram_point(std::string const& workload, std::uint32_t bins);

}  // namespace allocation
