// SPDX-License-Identifier: Apache-2.0
// Regions: a cluster of blocks discharges neighbouring vertices again and again; what crosses a
// border is a section on the other vertex.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/gap.cuh"
#include "apps/max_flow/region.cuh"
#include "apps/support/device.cuh"
#include "apps/support/grid_barrier.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <cmath>
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
      discharge<in_region> vertex{r, is, is ? by.listed(i) : 0, by, done};
      while (simt::any(simt::full_warp, vertex.has_arcs())) {
        vertex.next([&](push const& p, bool mine) {
          if (mine) by.send(p);
        });
      }
      vertex.end();
    }
  }
}

/// Rounds of all regions, for their kernel.
struct region_rounds {
  max_flow::network network;
  flow_state state;
  region_borders borders;
  region_shape shape;
  std::uint32_t rounds;  ///< one at least
  std::uint32_t steps;   ///< of each, at most
};
/// Rounds between two looks for a gap: two at least.
constexpr std::uint32_t rounds_a_gap = 3;

/// A round of the regions of this cluster; adds to `count` what there is for the next one. With no
/// steps it notes what has come across the borders.
WARDEN_DEVICE void discharge_mine(region_rounds const& a, round const& r, std::uint32_t steps,
                                  std::uint64_t* count, region_memory const& memory, work& done) {
  unsigned const blocks = simt::cluster_size();
  std::uint32_t const regions = a.shape.regions(a.network.vertices);
  for (std::uint32_t i = simt::block_rank() / blocks; i < regions;
       i += simt::block_count() / blocks) {
    // Nobody tells a block of its next region's vertices while it looks at this one's.
    if (i != simt::block_rank() / blocks) simt::sync_cluster();
    in_region by{r, a.borders, memory, a.shape, i};
    by.begin();
    for (std::uint32_t step = 0; step < steps; ++step) {
      discharge_step(r, by, done);
      if (!by.end_step()) break;
    }
    by.end(count);
  }
}

/// All rounds until the next search, or until nobody is active, or an inbox was full: then the log
/// has to be run, as the heights that a push may rely on are those of its round. A cooperative
/// launch of clusters.
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1)
    discharge_regions(WARDEN_GRID_CONSTANT region_rounds const a) {
  control& c = *a.state.control;
  if (c.active[0] == 0) return;
  region_control& regions = c.regions;
  apps::grid_barrier barrier{&regions.barrier};
  WARDEN_SHARED(std::uint32_t, under_way);
  WARDEN_SHARED(std::uint32_t, lowest_empty);
  region_memory const memory = region_memory::in(simt::dynamic_shared(), a.shape.part);
  memory.clear(a.shape.part);
  simt::sync_cluster();
  bool const is_first = simt::block_rank() == 0;
  work done{};
  round r{a.network, a.state, 0, 0};
  bool goes_on = true;
  while (true) {
    std::uint32_t const k = r.number;
    discharge_mine(a, r, goes_on ? a.steps : 0,
                   goes_on ? &regions.under_way[k % 3] : &c.active[0], memory, done);
    if (!goes_on) break;
    // Whatever becomes 0 here has been read by all before the last barrier, and is written by none
    // before the next one. Of a barrier that failed the host is told.
    if (!barrier.wait(
            [&] {
              if (!is_first) return;
              regions.under_way[(k + 1) % 3] = 0;
              if (k % rounds_a_gap == 1) c.empty[1 - r.interval] = no_level;
            },
            [&] {
              bool const some = simt::load_relaxed(&regions.under_way[k % 3]) != 0;
              // Others may be in the next round already.
              bool const is_full = simt::load_relaxed(&regions.full_in) == k + 1;
              under_way = some && !is_full && k + 1 < a.rounds ? 1 : 0;
              lowest_empty = simt::load_relaxed(&c.empty[r.interval]);
            }))
      return;
    goes_on = under_way != 0;
    std::uint32_t const least = lowest_empty;
    ++r.number;
    if (!goes_on) {
      // All have read whether anybody was active when the launch began.
      if (!barrier.wait(
              [&] {
                if (!is_first) return;
                c.active[0] = 0;
                c.rounds += r.number;
              },
              [] {}))
        return;
    } else if (r.number % rounds_a_gap == 0) {
      r.interval = 1 - r.interval;
      if (least == no_level) continue;
      cut_off_above(r, least);
      if (!barrier.wait()) return;
    }
  }
  r.note_work(done);
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
        launch_{std::min(shape_.regions(net.vertices),
                         clusters_of(shape_.cluster, region_memory::bytes(shape_.part))) *
                    shape_.cluster,
                threads, region_memory::bytes(shape_.part), true, shape_.cluster},
        inboxes_{shape_.regions(net.vertices) * shape_.cluster, inbox_room} {}
  bool all_rounds_async(round const& first, std::uint64_t due, warden::stream_ref s) override {
    std::uint64_t const all = std::max(due, least_steps);
    auto const rounds = static_cast<std::uint32_t>((all + steps() - 1) / steps());
    region_control* const regions = &first.state.control->regions;
    warden::runtime::fill_async(regions, 0, sizeof(region_control), s);
    region_rounds a{first.network,
                    first.state,
                    {log_.ref(), inboxes_.ref(), &regions->full_in},
                    shape_,
                    rounds,
                    static_cast<std::uint32_t>((all + rounds - 1) / rounds)};
    void* arguments[] = {&a};
    auto const result = warden::runtime::launch(kernel_, launch_, arguments, s);
    if (result == warden::runtime::launch_result::too_large) {
      throw warden::limit_error{"max_flow: regions of " + std::to_string(launch_.blocks.x) +
                                " blocks; the device does not hold them together"};
    }
    return true;
  }
  void settle_async(warden::stream_ref s) override { log_.run(s); }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }
  /// As measured from 1 million vertices to 34: four times the vertices, half as many.
  [[nodiscard]] double steps_a_level(std::uint32_t vertices) const override {
    constexpr double million = 1u << 20;
    return vertices < million ? 0.9 : 0.9 * std::sqrt(million / vertices);
  }
  [[nodiscard]] unsigned steps() const override { return simt::has_registers ? 16 : 4; }

 private:
  /// Fewer between two searches are not worth the search.
  static constexpr std::uint64_t least_steps = simt::has_registers ? 48 : 12;
  /// Pushes that an inbox has room for.
  static constexpr std::uint32_t inbox_room = simt::has_registers ? 4096 : 8;

  // An edge across a border may be pushed along in each step. There is room for two pushes each, of
  // all edges, which are mostly within regions; a log that is full is an error, and nothing worse.
  guarded guarded_;
  push_log log_;
  region_shape shape_;
  warden::runtime::launch_shape launch_;
  apps::inboxes<push> inboxes_;
  warden::runtime::kernel kernel_ = simt::make_kernel(&discharge_regions);
};

}  // namespace

std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state) {
  return std::make_unique<region_arm>(net, state);
}

}  // namespace max_flow
