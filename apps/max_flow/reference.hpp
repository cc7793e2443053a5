// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reference results of a network, on one core: Boost's maximum flows.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/graph/edge_list.hpp"

#include <cstdint>

namespace max_flow {

/// The value of a maximum flow, and how long it took without making Boost's copy of the network.
struct reference_flow {
  std::uint64_t value;
  double seconds;
};

/// Returns the flow of rows with capacities and reverse arcs. By `push_relabel_max_flow`: the
/// highest label first, with global relabelling and gaps, as HIPR has it.
reference_flow push_relabel(graph::csr const& rows, graph::terminals const& ends);
/// By `boykov_kolmogorov_max_flow`.
reference_flow boykov_kolmogorov(graph::csr const& rows, graph::terminals const& ends);

}  // namespace max_flow
