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
                                           "warden_deferred_combined"};

/// A copy of so many elements of 4 bytes, one of every `each` of which adds to a counter; `each` is
/// a power of two.
std::shared_ptr<bench::point> make_copy_point(std::uint32_t elements, std::uint32_t each);
/// How often each of so many values occurs among samples that are `uniform`, `zipf099`, or all
/// `one`.
std::shared_ptr<bench::point> make_histogram_point(std::string const& workload, std::uint32_t bins);

}  // namespace allocation
