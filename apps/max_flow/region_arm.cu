// SPDX-License-Identifier: Apache-2.0
// Regions: a cluster of blocks holds the excesses and heights of neighbouring vertices on its chips
// and discharges them again and again; what crosses a border is a section on the other vertex.

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

/// Calls `load(i)` for a thread's share of a region's `n` vertices, several of them before the
/// first `use(i, what was loaded)`: the loads do not wait for one another.
template <class Load, class Use>
WARDEN_DEVICE void for_region(std::uint32_t n, Load load, Use use) {
  constexpr unsigned ahead = 4;
  for (std::uint32_t first = simt::thread_rank(); first < n;
       first += ahead * simt::block_threads()) {
    decltype(load(first)) loaded[ahead]{};
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      std::uint32_t const i = first + k * simt::block_threads();
      if (i < n) loaded[k] = load(i);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      std::uint32_t const i = first + k * simt::block_threads();
      if (i < n) use(i, loaded[k]);
    }
  }
}

/// The active vertices of a step, as discharge_share takes those of a round.
WARDEN_DEVICE work discharge_step(round const& r, in_region& by) {
  constexpr std::uint32_t rows = simt::warp_size / in_region::lanes;
  std::uint32_t const active = by.begin_step();
  work done{};
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
  return done;
}

struct region_round {
  round all;
  std::uint32_t part;   ///< vertices of a block
  std::uint32_t steps;  ///< at most

  /// Not more than what is due before the next search needs.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t steps_now() const {
    constexpr std::uint32_t least = simt::has_registers ? 8 : 4;
    auto const due = static_cast<std::uint32_t>(all.state.due_a_level *
                                                static_cast<float>(all.state.control->levels));
    return due < least ? least : due < steps ? due : steps;
  }
};

/// A round of one region, by a whole cluster.
WARDEN_DEVICE void discharge_region(region_round const& a, guarded::deferred_ref const& to,
                                    std::uint32_t region) {
  round const& r = a.all;
  std::uint32_t const vertices = r.network.vertices, first = region * r.state.region_size;
  // The last parts may be empty.
  std::uint32_t const own = std::uint64_t{first} + simt::cluster_rank() * a.part < vertices
                                ? first + simt::cluster_rank() * a.part
                                : vertices;
  std::uint32_t const n = vertices - own < a.part ? vertices - own : a.part;
  region_memory const mine = region_memory::in(simt::dynamic_shared(), a.part);
  in_region by{r, to, mine, a.part, first};
  auto const has_work = [&](std::uint32_t v, std::uint64_t excess, std::uint32_t height) {
    return excess != 0 && height < vertices && !r.network.is_terminal(v);
  };

  if (simt::thread_rank() == 0) {
    if (simt::cluster_rank() == 0) r.state.marks[region] = 0;
    by.begin();
    simt::shared_store(mine.begins[n], static_cast<std::uint32_t>(r.network.offsets[own + n]));
  }
  for (std::uint32_t i = simt::thread_rank(); i < a.part / 32; i += simt::block_threads()) {
    simt::shared_store(mine.bits[0][i], 0u);
    simt::shared_store(mine.bits[1][i], 0u);
  }
  simt::sync_block();
  struct beginning {
    std::uint64_t excess;
    std::uint32_t height, arcs;
  };
  for_region(
      n,
      [&](std::uint32_t i) {
        return beginning{r.state.vertices[own + i].excess, r.heights()[own + i],
                         static_cast<std::uint32_t>(r.network.offsets[own + i])};
      },
      [&](std::uint32_t i, beginning const& b) {
        split_excess const parts = split_excess::of(b.excess);
        simt::shared_store(mine.excess[i].low, parts.low);
        simt::shared_store(mine.excess[i].high, parts.high);
        simt::shared_store(mine.heights[0][i], b.height);
        simt::shared_store(mine.heights[1][i], b.height);
        simt::shared_store(mine.begins[i], b.arcs);
        if (has_work(own + i, b.excess, b.height))
          simt::shared_set_bits(mine.bits[0][i / 32], 1u << i % 32);
      });
  simt::sync_cluster();

  work done{};
  std::uint32_t const steps = a.steps_now();
  for (unsigned step = 0; step < steps; ++step) {
    done += discharge_step(r, by);
    if (!by.end_step()) break;
  }

  by.send_leaving();
  bool is_active = false;
  for_region(
      n, [&](std::uint32_t i) { return r.heights()[own + i]; },
      [&](std::uint32_t i, std::uint32_t before) {
        std::uint64_t const excess = split_excess{simt::shared_load(mine.excess[i].low),
                                                  simt::shared_load(mine.excess[i].high)}
                                         .sum();
        std::uint32_t const height = simt::shared_load(by.heights()[i]);
        r.state.vertices[own + i].excess = excess;
        r.next_heights()[own + i] = height;
        if (height != before) r.note_height(before, height);
        // Who rose is in the next round once more, so that both its heights are the same after
        // that.
        is_active |= height != before || has_work(own + i, excess, height);
      });
  if (simt::sync_block_or(is_active) && simt::thread_rank() == 0)
    activate(r.state, r.number + 1, first);
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
    simt::sync_block();
  }
}

struct longest_arguments {
  network net;
  std::uint64_t* arcs;
};
/// Of all vertices that are ever active.
WARDEN_KERNEL void find_longest_row(longest_arguments a) {
  apps::for_my_share(a.net.vertices, [&](std::uint64_t i) {
    auto const v = static_cast<std::uint32_t>(i);
    row const its = row_of(a.net, v);
    if (!a.net.is_terminal(v) && its.end - its.begin > split_excess::most_arcs)
      simt::fetch_max(a.arcs, its.end - its.begin);
  });
}
void check_rows(network const& net) {
  warden::buffer<std::uint64_t> longest{1};
  longest.fill_bytes(0);
  simt::launch(&find_longest_row, apps::blocks(), apps::threads(), 0, {net, longest.data()}, {});
  if (std::uint64_t const arcs = longest.to_host()[0]; arcs != 0) {
    throw warden::limit_error{"max_flow: a vertex of " + std::to_string(arcs) +
                              " arcs; warden_regions takes " +
                              std::to_string(split_excess::most_arcs) + " at most"};
  }
}

/// Clusters of `cluster` blocks that the device holds together.
unsigned clusters_of(unsigned cluster, std::size_t bytes) {
  auto const kernel = simt::make_kernel(&discharge_regions);
  return static_cast<unsigned>(
      cluster == 1 ? warden::runtime::resident_blocks(kernel, threads, bytes)
                   : warden::runtime::resident_clusters(kernel, threads, bytes, cluster));
}

/// As large regions as there can be, but for the whole device's sake not fewer than clusters.
region_shape shape_of(std::uint32_t vertices) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  std::uint32_t most = region_memory::most_vertices;
  while (region_memory::bytes(most) + 1024 > facts.shared_bytes_per_block) most -= 32;
  auto const of = [&](unsigned cluster, unsigned clusters) {
    std::uint64_t const at_once = std::uint64_t{clusters} * cluster;
    std::uint64_t const parts = (vertices + at_once * most - 1) / (at_once * most) * at_once;
    auto const part = static_cast<std::uint32_t>((vertices + parts - 1) / parts);
    return region_shape{(part + 31) / 32 * 32, cluster};
  };
  if (!simt::has_registers) return of(2, 2);
  std::size_t const bytes = region_memory::bytes(most);
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
        clusters_{std::min(clusters_of(shape_.cluster, shared_bytes_),
                           net.vertices / shape_.size() + 1)} {
    check_rows(net);
  }
  void round_async(round const& r, warden::stream_ref s) override {
    warden::launch(&discharge_regions,
                   {clusters_ * shape_.cluster, threads, shared_bytes_, shape_.cluster}, s,
                   log_.ref(), {r, shape_.part, steps()});
    log_.run(s);
  }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }
  [[nodiscard]] double steps_a_level() const override { return 0.25; }
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

std::uint32_t region_size(std::uint32_t vertices) { return shape_of(vertices).size(); }

}  // namespace max_flow
