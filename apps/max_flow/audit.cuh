// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks that a flow is maximum and a cut is minimum. Each proves the other.
#pragma once

#include "apps/max_flow/network.cuh"

#include <cstdint>
#include <string>

namespace max_flow {

/// Values and errors of a flow and a cut. The flow and the cut are checked independently.
struct findings {
  std::uint64_t from_source = 0;  ///< net flow out of the source
  std::uint64_t to_sink = 0;      ///< net flow into the sink
  std::uint64_t cut = 0;          ///< capacity of all edges from the source's side to the sink's
  std::uint64_t outside = 0;      ///< arcs whose flow is below 0 or above their capacity
  std::uint64_t torn = 0;         ///< arcs whose reverse arc has another flow
  std::uint64_t unbalanced = 0;   ///< other vertices whose inflow differs from their outflow
  bool is_between = false;        ///< true if the cut separates source and sink
};

/// Returns the findings about a flow and a cut in device memory, in the form of flow_finder. Blocks
/// the host. Throws cuda_error.
findings audit(network const& net, std::uint32_t const* residual, std::uint8_t const* sides);

/// Returns the errors of a maximum flow of that value and a minimum cut; empty if there are none.
std::string error_text(findings const& f, std::uint64_t value);

}  // namespace max_flow
