// SPDX-License-Identifier: Apache-2.0
// Regions: a cluster of blocks discharges neighbouring vertices again and again; what crosses a
// border is a section on the other vertex.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/region.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/error.hpp>
#include <warden/launch_kernel.cuh>

#include <algorithm>
#include <cstddef>
#include <string>

namespace max_flow {

namespace {

/// A simulated thread is dear.
constexpr unsigned threads = simt::has_registers ? 512 : 32;

/// The active vertices of a step, as discharge_share takes those of a round.
WARDEN_DEVICE void discharge_step(round const& r, in_region& by, work& done) {
  constexpr std::uint32_t rows = simt::warp_size / in_region::lanes;
  for (std::uint32_t active = by.begin_step(); active != 0; active = by.next_turn()) {
    for (std::uint32_t first = simt::warp_rank() * rows; first < active;
         first += simt::block_threads() / in_region::lanes) {
      std::uint32_t const i = first + simt::lane_id() / in_region::lanes;
      bool const is = i < active;
      discharge<in_region> vertex{r, is, is ? by.listed(i) : 0, by};
      while (simt::any(simt::full_warp, vertex.has_arcs())) {
        vertex.next([&](push const& p, bool mine) {
          if (mine) by.send(p);
        });
      }
      vertex.end();
      done += vertex.done();
    }
  }
}

struct region_round {
  round all;
  std::uint32_t part;   ///< vertices of a block
  std::uint32_t steps;  ///< at most

  /// Not more than what is due before the next search needs.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t steps_now() const {
    constexpr std::uint32_t least = simt::has_registers ? 8 : 4;
    float const due = all.state.due_a_level * static_cast<float>(all.state.control->levels);
    if (due >= static_cast<float>(steps)) return steps;
    return due < static_cast<float>(least) ? least : static_cast<std::uint32_t>(due);
  }
};

/// A round of one region, by a whole cluster.
WARDEN_DEVICE void discharge_region(region_round const& a, guarded::deferred_ref const& to,
                                    std::uint32_t region) {
  round const& r = a.all;
  auto const first = static_cast<std::uint32_t>(region * r.state.region_size);
  in_region by{r, to, region_memory::in(simt::dynamic_shared(), a.part), a.part, first};
  if (simt::thread_rank() == 0 && simt::cluster_rank() == 0) r.state.marks[region] = 0;
  by.begin();
  simt::sync_cluster();

  work done{};
  std::uint32_t const steps = a.steps_now();
  for (unsigned step = 0; step < steps; ++step) {
    discharge_step(r, by, done);
    if (!by.end_step()) break;
  }
  if (by.end() && simt::thread_rank() == 0) put_region(r.state, r.number + 1, first);
  r.note_work(done);
}

/// A cluster takes each region of the list that is its turn.
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1)
    discharge_regions(WARDEN_GRID_CONSTANT guarded::deferred_ref const to,
                      WARDEN_GRID_CONSTANT region_round const a) {
  std::uint64_t const active = a.all.begin();
  unsigned const blocks = simt::cluster_size();
  for (std::uint64_t i = simt::block_rank() / blocks; i < active;
       i += simt::block_count() / blocks) {
    discharge_region(a, to, a.all.active()[i]);
    // Nobody tells a block of its next region's vertices while it looks at this one's.
    simt::sync_cluster();
  }
}

/// Clusters of `cluster` blocks that the device holds together.
unsigned clusters_of(unsigned cluster, std::size_t bytes) {
  auto const kernel = simt::make_kernel(&discharge_regions);
  return static_cast<unsigned>(
      cluster == 1 ? warden::runtime::resident_blocks(kernel, threads, bytes)
                   : warden::runtime::resident_clusters(kernel, threads, bytes, cluster));
}

/// As many regions as there are clusters, unless they are larger than a block's memory allows.
region_shape shape_of(std::uint32_t vertices) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  auto const of = [&](unsigned cluster, unsigned clusters) {
    // Each block takes 32 vertices at a time.
    std::uint64_t const turn = std::uint64_t{clusters} * cluster * 32;
    auto part = static_cast<std::uint32_t>((vertices + turn - 1) / turn * 32);
    while (region_memory::bytes(part) + 1024 > facts.shared_bytes_per_block) part -= 32;
    return region_shape{part, cluster};
  };
  if (!simt::has_registers) return of(2, 4);
  std::size_t const bytes = region_memory::bytes(0);
  unsigned const alone = clusters_of(1, bytes);
  for (unsigned const cluster : {16u, 8u}) {
    unsigned const clusters = clusters_of(cluster, bytes);
    if (clusters * cluster >= alone / 4 * 3) return of(cluster, clusters);
  }
  return of(1, alone);
}

/// One kernel, and the run of its log.
class region_arm final : public arm {
 public:
  region_arm(network const& net, flow_state const& state)
      : guarded_{state.vertices, net.vertices, state},
        log_{guarded_, std::max<std::size_t>(net.arcs, 1), in_place},
        shape_{shape_of(net.vertices)},
        shared_bytes_{region_memory::bytes(shape_.part)},
        clusters_{static_cast<unsigned>(std::min<std::uint64_t>(
            clusters_of(shape_.cluster, shared_bytes_), net.vertices / shape_.size() + 1))} {}
  void round_async(round const& r, warden::stream_ref s) override {
    warden::launch(&discharge_regions,
                   {clusters_ * shape_.cluster, threads, shared_bytes_, shape_.cluster}, s,
                   log_.ref(), {r, shape_.part, steps()});
    log_.run(s);
  }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }
  [[nodiscard]] double steps_a_level(std::uint32_t) const override { return 0.5; }
  [[nodiscard]] unsigned steps() const override {
    return simt::has_registers ? shape_.cluster == 1 ? 16 : 32 : 4;
  }

 private:
  // An edge across a border may be pushed along in each step. There is room for two pushes each, of
  // all edges, which are mostly within regions; a log that is full is an error, and nothing worse.
  guarded guarded_;
  push_log log_;
  region_shape shape_;
  std::size_t shared_bytes_;
  unsigned clusters_;
};

}  // namespace

std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state) {
  return std::make_unique<region_arm>(net, state);
}

std::uint64_t region_size(std::uint32_t vertices) { return shape_of(vertices).size(); }

}  // namespace max_flow
