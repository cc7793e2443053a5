// SPDX-License-Identifier: Apache-2.0
// Regions: a cluster of blocks discharges neighbouring vertices repeatedly. A push across a border
// is a message to the owner of the other vertex.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/region_iterations.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace max_flow {

namespace {

/// Returns the number of clusters of `cluster` blocks that are resident together.
unsigned clusters_of(unsigned cluster, std::size_t bytes) {
  auto const kernel = simt::make_kernel(&discharge_regions);
  return static_cast<unsigned>(
      cluster == 1 ? warden::runtime::resident_blocks(kernel, region_threads, bytes)
                   : warden::runtime::resident_clusters(kernel, region_threads, bytes, cluster));
}

/// Returns the number of regions that a cluster processes in an iteration, one after another, each
/// with all steps. The data of a region's active vertices should stay in the level-2 cache during
/// its steps.
std::uint32_t best_regions_a_cluster(std::uint32_t vertices) {
  if (!simt::has_registers) return 3;
  std::uint32_t const millions = vertices >> 20;
  return millions < 8 ? 1 : millions < 24 ? 2 : 4;
}

struct region_launch {
  region_shape shape;
  unsigned clusters;
};
/// Returns the launch with `regions_a_cluster` regions per cluster, or more if such regions exceed
/// a block's memory. 0: the best number.
region_launch launch_of(std::uint32_t vertices, std::uint32_t regions_a_cluster = 0) {
  if (regions_a_cluster == 0) regions_a_cluster = best_regions_a_cluster(vertices);
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  auto const of = [&](unsigned cluster, unsigned clusters) -> region_launch {
    // Each band of a region has a multiple of 32 vertices, and so has a block's part.
    std::uint32_t const unit = std::max(32 * region_shape::bands / cluster, 32u);
    std::uint64_t const least = std::uint64_t{clusters} * regions_a_cluster * cluster * unit;
    auto part = static_cast<std::uint32_t>((vertices + least - 1) / least * unit);
    while (region_memory::bytes(part) + 1024 > facts.shared_bytes_per_block) part -= unit;
    auto const shape = region_shape::of(vertices, part, cluster);
    return {shape, std::min(shape.regions, clusters)};
  };
  std::size_t const bytes = region_memory::bytes(0);
  if (!simt::has_registers) return of(clusters_of(2, bytes) != 0 ? 2 : 1, 2);
  unsigned const alone = clusters_of(1, bytes);
  for (unsigned const cluster : {16u, 8u}) {
    unsigned const clusters = clusters_of(cluster, bytes);
    if (clusters == 0 || clusters * cluster < alone * 3 / 4) continue;
    region_launch const all = of(cluster, clusters);
    // With this much shared memory fewer clusters may be resident.
    if (clusters_of(cluster, region_memory::bytes(all.shape.part)) == clusters) return all;
  }
  region_launch all = of(1, alone);
  all.clusters = std::min(all.clusters, clusters_of(1, region_memory::bytes(all.shape.part)));
  return all;
}

struct locality_arguments {
  network net;
  region_shape shape;
  std::uint64_t* counts;  ///< number of arcs without a terminal, and of those within a region
};
WARDEN_KERNEL void count_local_arcs(locality_arguments a) {
  simt::assume_one_dimension();
  network const& net = a.net;
  std::uint64_t all = 0, local = 0;
  apps::for_my_share(net.arcs, [&](std::uint64_t i) {
    std::uint32_t const to = net.neighbours[i], from = net.neighbours[net.reverse[i]];
    if (net.is_terminal(from) || net.is_terminal(to)) return;
    ++all;
    local += a.shape.region_of(from) == a.shape.region_of(to) ? 1 : 0;
  });
  if (all != 0) simt::add(&a.counts[0], all);
  if (local != 0) simt::add(&a.counts[1], local);
}

/// One kernel for all iterations until a search, then the run of its log.
class region_arm final : public arm {
 public:
  region_arm(network const& net, flow_state const& state, std::uint32_t regions_a_cluster)
      : guarded_{state.vertices, net.vertices, state},
        log_{guarded_, std::max<std::size_t>(net.arcs, 1), in_place},
        regions_{launch_of(net.vertices, regions_a_cluster)},
        launch_{regions_.clusters * shape_.cluster, region_threads,
                region_memory::bytes(shape_.part), true, shape_.cluster},
        inboxes_{shape_.regions * shape_.cluster, inbox_room},
        border_bits_{net.vertices / 32 + 1} {}
  void begin_async(network const& net, warden::stream_ref s) override {
    simt::launch(&note_borders, apps::blocks(), apps::threads(), 0,
                 {net, shape_, border_bits_.data()}, s);
    // A failed launch leaves pushes in inboxes.
    inboxes_.clear_async(s);
  }
  [[nodiscard]] bool has_all_iterations() const override { return true; }
  void all_iterations_async(iteration const& first, search_interval const& when, std::uint64_t due,
                            warden::stream_ref s) override {
    region_control* const regions = &first.state.control->regions;
    if (due != 0) warden::runtime::fill_async(regions, 0, sizeof(region_control), s);
    region_iterations a{first.network,
                        first.state,
                        {log_.ref(), inboxes_.ref(), &regions->full_in, border_bits_.data()},
                        shape_,
                        steps(),
                        due,
                        when};
    void* arguments[] = {&a};
    warden::runtime::launch(kernel_, launch_, arguments, s);
  }
  void settle_async(warden::stream_ref s) override { log_.run(s); }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }
  [[nodiscard]] search_interval interval() const override { return interval_of_regions; }
  [[nodiscard]] unsigned steps() const override { return simt::has_registers ? 16 : 4; }

 private:
  /// Pushes of an inbox.
  static constexpr std::uint32_t inbox_room = simt::has_registers ? 4096 : 8;

  // An edge across a border may be pushed along in each step. The log has room for two pushes per
  // edge of the network, and most edges are within regions. A full log is reported as an error.
  guarded guarded_;
  push_log log_;
  region_launch regions_;
  region_shape const& shape_ = regions_.shape;
  warden::runtime::launch_shape launch_;
  apps::inboxes<push> inboxes_;
  warden::buffer<std::uint32_t> border_bits_;
  warden::runtime::kernel kernel_ = simt::make_kernel(&discharge_regions);
};

}  // namespace

std::string fastest_arm(network const& net) {
  // Assume that at most 90 % of the memory is free.
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  double const bytes = 48.0 * static_cast<double>(net.arcs) + 58.0 * net.vertices;
  if (net.vertices > most_vertices_of_regions || net.arcs > most_arcs_of_regions ||
      bytes > 0.9 * static_cast<double>(facts.global_bytes))
    return "atomics";
  region_shape const shape = launch_of(net.vertices).shape;
  if (shape.cluster == 1) return "atomics";
  warden::buffer<std::uint64_t> counts{2};
  counts.fill_bytes(0);
  simt::launch(&count_local_arcs, apps::blocks(), apps::threads(), 0, {net, shape, counts.data()},
               {});
  std::vector<std::uint64_t> const n = counts.to_host();
  return n[1] >= n[0] - n[1] ? "warden_regions" : "atomics";
}

std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state,
                                     std::uint32_t regions_a_cluster) {
  return std::make_unique<region_arm>(net, state, regions_a_cluster);
}

}  // namespace max_flow
