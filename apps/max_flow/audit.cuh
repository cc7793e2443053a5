// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that a flow is maximum and a cut is minimum: each proves the other.
#pragma once

#include "apps/max_flow/network.cuh"

#include <cstdint>
#include <string>

namespace max_flow {

/// Counts of errors in a flow and a cut, each checked without the other, except for the edges that
/// they share.
struct findings {
  std::uint64_t from_source = 0;  ///< net flow out of it
  std::uint64_t to_sink = 0;      ///< net flow into it
  std::uint64_t cut = 0;          ///< capacity of all edges from the source's side to the sink's
  std::uint64_t outside = 0;      ///< arcs whose flow is below 0 or above their capacity
  std::uint64_t torn = 0;         ///< arcs whose arc back tells of another flow
  std::uint64_t unbalanced = 0;   ///< other vertices where not as much comes as goes
  bool is_between = false;        ///< the source is on its side, the sink on the other one
};

/// Looks at a flow and a cut in device memory, as flow_finder has them; blocks the host. Throws
/// cuda_error.
findings audit(network const& net, std::uint32_t const* residual, std::uint8_t const* sides);

/// Returns the errors of a maximum flow of that value and a minimum cut; empty if there are none.
std::string error_text(findings const& f, std::uint64_t value);

}  // namespace max_flow
