// SPDX-License-Identifier: Apache-2.0
/// @file
/// Push of one vertex to another, as a section on the other vertex.
#pragma once

#include "apps/max_flow/state.cuh"

#include <cstdint>

namespace max_flow {

/// Flow that leaves a vertex along an arc.
struct push {
  std::uint32_t to;      ///< vertex at the arc's end, no terminal
  std::uint32_t arc;     ///< reverse arc, which starts at `to`
  std::uint32_t amount;  ///< more than 0
};

/// Critical section: a vertex receives a push. It changes only state of this vertex: its excess,
/// the residual capacity of its reverse arc, and its entry in the list of active vertices.
struct receive {
  push what;
  static constexpr bool reads_other_memory = false;

  WARDEN_DEVICE void operator()(vertex_state& v, flow_state const& s) const {
    s.arcs[what.arc].residual += what.amount;
    if (v.excess == 0) activate(s, s.control->next, what.to);
    v.excess += what.amount;
  }
};

}  // namespace max_flow
