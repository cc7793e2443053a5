// SPDX-License-Identifier: Apache-2.0
/// @file
/// A push of one vertex to another, as a section on the other.
#pragma once

#include "apps/max_flow/state.cuh"

#include <cstdint>

namespace max_flow {

/// Flow that leaves a vertex along an arc.
struct push {
  std::uint32_t to;      ///< the vertex at its end, no terminal
  std::uint32_t arc;     ///< the arc back, which is that vertex's
  std::uint32_t amount;  ///< more than 0
};

/// The critical section: a vertex receives what another pushed to it. Whatever it changes is the
/// vertex's: its excess, the residual capacity of its arc back, its place among the active ones.
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
