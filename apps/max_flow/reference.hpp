// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reference results of a network: Boost's maximum flows, by one thread of the host.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/graph/edge_list.hpp"

#include <cstdint>

namespace max_flow {

/// Value of a maximum flow, and its time without the time to make Boost's copy of the network.
struct reference_flow {
  std::uint64_t value;
  double seconds;
};

/// Returns the flow of rows with capacities and reverse arcs. Uses `push_relabel_max_flow`: highest
/// label first, with global relabelling and gaps, as HIPR.
reference_flow push_relabel(graph::csr const& rows, graph::terminals const& ends);
/// Returns the flow of rows by `boykov_kolmogorov_max_flow`.
reference_flow boykov_kolmogorov(graph::csr const& rows, graph::terminals const& ends);

}  // namespace max_flow
