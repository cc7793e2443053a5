// SPDX-License-Identifier: Apache-2.0
/// @file
/// The choice of a search's next step. All ranks choose alike, because all compute it from equal
/// numbers, and no rank asks another one or its host.
#pragma once

#include "apps/breadth_first/owner_state.cuh"

#include <cstdint>

namespace breadth_first {

/// The source alone, which about `arcs` arcs leave.
WARDEN_HOST_DEVICE owner_progress begin_progress(std::uint64_t arcs) {
  return {1, arcs, 0, arcs, 0, 0, 0, 0, 0, owner_step::begin};
}

/// Adds what the last step found.
WARDEN_HOST_DEVICE void add(owner_progress& now, level_sums const& found) {
  if (now.kind == owner_step::over) return;
  now.places = found.places;
  now.queued_arcs = found.queued_arcs;
  if (now.kind == owner_step::begin || now.kind == owner_step::to_queue) return;
  now.before = now.vertices;
  now.vertices = found.vertices;
  now.arcs = found.arcs;
  now.followed += found.arcs;
  ++now.level;
  now.side = 1 - now.side;
  if (now.kind == owner_step::up) ++now.bottom_up;
}

/// Many arcs leave the frontier, of those not yet followed and of what asking all vertices costs.
WARDEN_HOST_DEVICE bool goes_up(owner_progress const& now, owner_state const& s) {
  return now.arcs * s.choice.alpha > s.arcs - now.followed + now.arcs &&
         now.arcs * s.choice.beta > s.vertices;
}
/// True if the frontier shrinks and is small, and looking again at all arcs of the unreached
/// vertices costs more than the step that queues the frontier.
WARDEN_HOST_DEVICE bool goes_down(owner_progress const& now, owner_state const& s) {
  return now.vertices < now.before && now.vertices * s.choice.beta < s.vertices &&
         s.arcs - now.followed > s.vertices;
}

/// Chooses the next step.
WARDEN_HOST_DEVICE void choose(owner_progress& now, owner_state const& s) {
  if (now.vertices == 0) {
    now.kind = owner_step::over;
  } else if (now.kind == owner_step::up) {
    if (goes_down(now, s)) now.kind = owner_step::to_queue;  // mutation: owner-queue
  } else {
    now.kind = goes_up(now, s) ? owner_step::up : owner_step::down;
  }
}

}  // namespace breadth_first
