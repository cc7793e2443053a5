// SPDX-License-Identifier: Apache-2.0
// Pushes that a plain kernel defers, and the owners of the receiving vertices run.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/discharge.cuh"
#include "apps/max_flow/sections.cuh"

#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>

namespace max_flow {

namespace {

constexpr unsigned threads = flow_policy::block_threads;
using client = guarded::deferred_block<threads>;

/// Delivery by deferred sections. Until they run, only the threads that discharge a vertex use it,
/// so loads and stores are plain.
struct by_sections : in_an_iteration {
  flow_state const& state;
  client& to;

  WARDEN_DEVICE by_sections(iteration const& r, client& c)
      : in_an_iteration{r}, state{r.state}, to{c} {}

  WARDEN_DEVICE static vertex_state load(vertex_state const& v) { return v; }
  WARDEN_DEVICE static arc load(arc const& a) { return a; }
  WARDEN_DEVICE static void set_residual(arc& a, std::uint32_t value) { a.residual = value; }
  WARDEN_DEVICE static bool any(bool mine) { return simt::sync_block_or(mine); }
  WARDEN_DEVICE void send(push const& p, bool mine) const { to.send(p.to, receive{p}, mine); }
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t pushed, std::uint64_t) const {
    return (state.vertices[v].excess -= pushed) != 0;
  }
};

WARDEN_KERNEL void WARDEN_BOUNDS(threads, 3)
    discharge_by_sections(WARDEN_GRID_CONSTANT guarded::deferred_ref const to,
                          WARDEN_GRID_CONSTANT iteration const r) {
  simt::assume_one_dimension();
  client all{to, *reinterpret_cast<client::storage*>(simt::dynamic_shared())};
  by_sections by{r, all};
  discharge_share(r, by);
  all.flush();
}

/// A kernel that defers the pushes of an iteration, then the run of its log.
class warden_arm final : public arm {
 public:
  warden_arm(network const& net, flow_state const& state)
      : guarded_{state.vertices, net.vertices, state}, log_{guarded_, most_pushes(net), in_place} {
    // More blocks would have no vertex.
    blocks_ = std::min(blocks_, net.vertices / (threads / row_lanes) + 1);
  }
  void iteration_async(iteration const& r, warden::stream_ref s) override {
    warden::launch(&discharge_by_sections, {blocks_, threads, shared_bytes}, s, log_.ref(), r);
    log_.run(s);
  }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }

 private:
  /// Returns the largest number of pushes of an iteration: at most one of an edge's two arcs is
  /// pushed along.
  static std::size_t most_pushes(network const& net) {
    return std::max<std::size_t>(net.arcs / 2, 1);
  }

  guarded guarded_;
  push_log log_;
  static constexpr std::size_t shared_bytes = sizeof(client::storage);
  unsigned blocks_ = static_cast<unsigned>(warden::runtime::resident_blocks(
      simt::make_kernel(&discharge_by_sections), threads, shared_bytes));
};

}  // namespace

std::unique_ptr<arm> make_warden_arm(network const& net, flow_state const& state) {
  return std::make_unique<warden_arm>(net, state);
}

}  // namespace max_flow
