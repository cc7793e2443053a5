// SPDX-License-Identifier: Apache-2.0
/// @file
/// Number of steps between two global relabellings.
#pragma once

#include <warden/simt/simt.cuh>

#include <cmath>
#include <cstdint>

namespace max_flow {

/// Interval of searches. A search is due again when the steps since the last one have cost a
/// certain part of its own cost. The cost of a step grows with the number of active vertices and
/// with the size of the network. A search costs its levels and a pass over all vertices.
struct search_interval {
  double steps_a_level;  ///< steps per level of the last search if few vertices are active
  double active_a_step;  ///< active vertices of 2^20 that double the cost of a step
  double fixed;          ///< cost of a search of 2^20 vertices without its levels, in levels

  /// Returns the number of steps after a search of `levels` levels that left `active` vertices
  /// active; at least 1.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t steps(std::uint32_t levels, std::uint64_t active,
                                                       std::uint32_t vertices) const {
    constexpr double most = 1e15;
    double const millions = vertices / static_cast<double>(1u << 20);
    double const search = levels + fixed * millions;
    double const dear = std::sqrt(std::sqrt(millions));
    double const step = 1 + static_cast<double>(active) * dear / active_a_step;
    double const due = steps_a_level * search / step;
    return due < 1 ? 1 : static_cast<std::uint64_t>(due < most ? due : most);
  }
};

/// Measured constants. They differ by arm and hardly by network. The first is for arms whose steps
/// are iterations with a launch each, the second for regions.
inline constexpr search_interval interval_of_iterations{0.5, 21000, 30};
inline constexpr search_interval interval_of_regions{1.6, 16000, 50};

}  // namespace max_flow
