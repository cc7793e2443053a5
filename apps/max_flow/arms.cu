// SPDX-License-Identifier: Apache-2.0
// Arms by name, and the arm of atomics.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/discharge.cuh"
#include "apps/support/device.cuh"

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>

namespace max_flow {

namespace {

/// Delivery by two atomics per push [Hong and He 2011].
struct by_atomics : in_an_iteration {
  flow_state const& state;
  std::uint32_t next;  ///< iteration

  WARDEN_DEVICE explicit by_atomics(iteration const& r)
      : in_an_iteration{r}, state{r.state}, next{r.number + 1} {}

  WARDEN_DEVICE static bool any(bool mine) { return simt::any(simt::full_warp, mine); }
  WARDEN_DEVICE void send(push const& p, bool mine) const {
    if (!mine) return;
    simt::add(&state.arcs[p.arc].residual, p.amount);
    // Exactly one of several concurrent pushes finds 0.
    if (simt::fetch_add(&state.vertices[p.to].excess, p.amount) == 0) activate(state, next, p.to);
  }
  /// Returns true if excess is left. It was above 0 until now, so no other thread made the vertex
  /// active.
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t pushed, std::uint64_t) const {
    return pushed == 0 || simt::fetch_add(&state.vertices[v].excess, 0 - pushed) != pushed;
  }
};

WARDEN_KERNEL void discharge_by_atomics(WARDEN_GRID_CONSTANT iteration const r) {
  simt::assume_one_dimension();
  by_atomics by{r};
  discharge_share(r, by);
}

WARDEN_KERNEL void WARDEN_BOUNDS(one_block_threads, 1)
    discharge_few_by_atomics(WARDEN_GRID_CONSTANT iteration const r) {
  simt::assume_one_dimension();
  discharge_few(r, [](iteration const& now) { return by_atomics{now}; });
}

class atomics_arm final : public arm {
 public:
  void iteration_async(iteration const& r, warden::stream_ref s) override {
    simt::launch(&discharge_by_atomics, apps::blocks(), apps::threads(), 0, r, s);
  }
  void few_iterations_async(iteration const& r, warden::stream_ref s) override {
    simt::launch(&discharge_few_by_atomics, 1, one_block_threads, 0, r, s);
  }
  void wait(warden::stream_ref s) override { s.synchronize(); }
};

}  // namespace

std::vector<std::string> const& arm_names() {
  static std::vector<std::string> const names{"lock_as_written", "lock_tuned", "atomics", "warden",
                                              "warden_regions"};
  return names;
}

std::unique_ptr<arm> make_arm(std::string const& name, network const& net, flow_state const& state,
                              std::uint32_t regions_a_cluster) {
  auto const& names = arm_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string all;
    for (std::string const& n : names) all += (all.empty() ? "" : ", ") + n;
    throw warden::limit_error{"max_flow: no arm '" + name + "'; there are: " + all};
  }
  if (name == "atomics") return std::make_unique<atomics_arm>();
  if (name.starts_with("lock_")) return make_lock_arm(name, net, state);
  if (has_regions(name)) return make_region_arm(net, state, regions_a_cluster);
  return make_warden_arm(net, state);
}

}  // namespace max_flow
