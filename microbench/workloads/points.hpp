// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark of workloads. Each function is in a translation unit of its own.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace workloads {

inline std::vector<std::string> const arm_names{
    "atomics",     "shared_atomics",    "shared_cache", "bulk_reduce",   "lock_checked",
    "lock_warp",   "lock_warp_checked", "cub_sort",     "sort_segments", "sort_pieces",
    "warden",      "warden_parts",      "warden_trees", "warden_bulk",   "warden_sums",
    "warden_rows", "warden_rows_bulk"};

/// Inputs of a point: `workload` is a name that bench::workload::named takes.
struct size {
  std::string workload;
  std::uint32_t keys, rows;
  bool operator==(size const&) const = default;
};

/// 128-bit sums and counts of `rows` values of 16 bytes, in `keys` groups.
std::shared_ptr<bench::point> make_group_by_point(size const& s);
/// Sums and counts of `rows` values of 8 bytes, by `keys` keys of 64 bits that lie anywhere.
std::shared_ptr<bench::point> make_sparse_keys_point(size const& s);
/// Sums of rows of 1, 8 or 64 floats.
std::shared_ptr<bench::point> make_scatter_point(unsigned floats, size const& s);
/// Row-wise AdaGrad on rows of 64 floats, with a step for each gradient.
std::shared_ptr<bench::point> make_adagrad_steps_point(size const& s);
/// Row-wise AdaGrad on such rows, with one step for each row, by the sum of its gradients.
std::shared_ptr<bench::point> make_adagrad_sums_point(size const& s);
/// Cheapest of `rows` candidates of `keys` nodes, with 4 bytes that belong to it.
std::shared_ptr<bench::point> make_argmin_point(size const& s);
/// Lists of the 32 nearest of `rows` candidates.
std::shared_ptr<bench::point> make_nearest_point(size const& s);

}  // namespace workloads
