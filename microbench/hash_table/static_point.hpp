// SPDX-License-Identifier: Apache-2.0
// Points of the static hash table benchmark.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>

namespace hash_table_bench {

inline constexpr int builds = -1;  ///< number of hits of a point that builds

/// Returns a point of tables of `keys` keys with `load` entries for 100 slots. It searches, and
/// `hits` percent of the searches find their key; or it builds.
std::shared_ptr<bench::point> make_static_point(std::uint32_t keys, std::uint32_t load, int hits);

}  // namespace hash_table_bench
