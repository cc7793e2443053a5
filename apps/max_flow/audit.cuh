// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether what was found is a maximum flow and a minimum cut: each proves the other.
#pragma once

#include "apps/max_flow/network.cuh"

#include <cstdint>
#include <string>

namespace max_flow {

/// What a flow and a cut show, each looked at without the other, but for the edges they share.
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

/// What is wrong with a maximum flow of that value and a minimum cut; empty if nothing is.
std::string error_text(findings const& f, std::uint64_t value);

}  // namespace max_flow
