// SPDX-License-Identifier: Apache-2.0
// Points of the allocation benchmark. Each function is in translation units of its own.
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

/// Copies of `elements` elements of 4 bytes. One of every `each` elements takes places. `each` is a
/// power of 2.
std::shared_ptr<bench::point> make_copy_point(std::uint32_t elements, std::uint32_t each);
/// Items that emit elements, by a spread of item_counts.hpp.
std::shared_ptr<bench::point> make_emit_point(std::string const& spread);
/// Run-length decoding. The length of a run is drawn by a spread, plus 1.
std::shared_ptr<bench::point> make_decode_point(std::string const& spread);
/// Items that take places of `counters` counters, each with equal probability.
std::shared_ptr<bench::point> make_take_point(std::uint32_t counters);
/// Histograms of samples that are `uniform`, `zipf099`, or `one` value.
std::shared_ptr<bench::point> make_histogram_point(std::string const& workload, std::uint32_t bins);

}  // namespace allocation
