// SPDX-License-Identifier: Apache-2.0
// Searches the arcs of each vertex.

#include "apps/spanning_forest/first_iteration.cuh"
#include "apps/support/device.cuh"

#include <warden/cuda_names.cuh>
#include <warden/simt/launch.cuh>

#include <algorithm>

namespace spanning_forest {

namespace {

/// Returns the key of the lightest of the arcs `first`, `first + step`, ... below `end`, which
/// start at `v`.
WARDEN_DEVICE std::uint64_t look_through(first_iteration_arguments const& a, std::uint32_t v,
                                         std::uint64_t first, std::uint64_t end, unsigned step) {
  std::uint64_t lightest = no_key;
  constexpr unsigned at_once = 4;
  for (std::uint64_t arc = first; arc < end; arc += at_once * step) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint64_t const i = arc + k * step;
      if (i >= end) continue;
      std::uint64_t const key = key_of(a.graph.weights[i], static_cast<std::uint32_t>(i));
      a.sources[i] = v;
      // Skip loops, which join no components.
      if (a.graph.neighbours[i] != v && key < lightest) lightest = key;
    }
  }
  return lightest;
}
/// Returns the smallest key of all lanes. Collective over the warp.
WARDEN_DEVICE std::uint64_t least_of_warp(std::uint64_t key) {
  WARDEN_UNROLL
  for (unsigned distance = simt::warp_size / 2; distance != 0; distance /= 2) {
    std::uint64_t const other = simt::shuffle(simt::full_warp, key, simt::lane_id() ^ distance);
    if (other < key) key = other;
  }
  return key;
}
WARDEN_DEVICE void choose(first_iteration_arguments const& a, std::uint32_t v, std::uint64_t key) {
  a.components[v].lightest = key;
  a.target[v] = key == no_key ? v : a.graph.neighbours[number_in(key)];
}

/// Launch: any one-dimensional grid of whole warps.
WARDEN_KERNEL void find_lightest_arcs(first_iteration_arguments const a) {
  simt::assume_one_dimension();
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  std::uint64_t const lane_0 = std::uint64_t{simt::block_rank()} * simt::block_threads() +
                               simt::thread_rank() - simt::lane_id();
  // Whole warps iterate together, so that every lane reaches the collectives.
  for (std::uint64_t base = lane_0; base < a.graph.vertices; base += step) {
    auto const v = static_cast<std::uint32_t>(base + simt::lane_id());
    bool const is = base + simt::lane_id() < a.graph.vertices;
    std::uint64_t const begin = is ? a.graph.offsets[v] : 0;
    std::uint64_t const end = is ? a.graph.offsets[v + 1] : 0;
    bool const is_hub = end - begin > most_of_a_warp;
    if (is_hub) a.hubs[1 + simt::fetch_add(a.hubs, 1u)] = v;
    bool const is_long = !is_hub && end - begin > most_of_a_thread;
    std::uint64_t lightest = no_key;
    if (!is_hub && !is_long) lightest = look_through(a, v, begin, end, 1);
    unsigned left = simt::ballot(simt::full_warp, is_long);
    while (left != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      std::uint64_t const key =
          least_of_warp(look_through(a, static_cast<std::uint32_t>(base) + lane,
                                     simt::shuffle(simt::full_warp, begin, lane) + simt::lane_id(),
                                     simt::shuffle(simt::full_warp, end, lane), simt::warp_size));
      if (simt::lane_id() == lane) lightest = key;
    }
    if (is && !is_hub) choose(a, v, lightest);
  }
}

/// Threads of a block that searches the arcs of a hub.
constexpr unsigned hub_threads = 512;
/// Launch: one block for each hub that the launch before this one found.
WARDEN_KERNEL void find_lightest_arcs_of_hubs(first_iteration_arguments const a) {
  simt::assume_one_dimension();
  WARDEN_SHARED(std::uint64_t[hub_threads / simt::warp_size], lightest);
  std::uint32_t const hubs = a.hubs[0];
  for (std::uint32_t h = simt::block_rank(); h < hubs; h += simt::block_count()) {
    std::uint32_t const v = a.hubs[1 + h];
    std::uint64_t const mine =
        least_of_warp(look_through(a, v, a.graph.offsets[v] + simt::thread_rank(),
                                   a.graph.offsets[v + 1], simt::block_threads()));
    if (simt::lane_id() == 0) lightest[simt::warp_rank()] = mine;
    simt::sync_block();
    if (simt::warp_rank() == 0) {
      unsigned const warps = simt::block_threads() / simt::warp_size;
      std::uint64_t const key =
          least_of_warp(simt::lane_id() < warps ? lightest[simt::lane_id()] : no_key);
      if (simt::lane_id() == 0) choose(a, v, key);
    }
    simt::sync_block();
  }
}

}  // namespace

void first_iteration_async(first_iteration_arguments const& a) {
  warden::runtime::fill_async(a.hubs, 0, sizeof(std::uint32_t), {});
  simt::launch(&find_lightest_arcs, apps::blocks(), apps::threads(), 0, a, {});
  // The simulated device's blocks are small.
  unsigned const threads = std::min(hub_threads, 16 * apps::threads());
  simt::launch(&find_lightest_arcs_of_hubs, apps::blocks() / 2, threads, 0, a, {});
}

}  // namespace spanning_forest
