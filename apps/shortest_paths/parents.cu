// SPDX-License-Identifier: Apache-2.0
// Parents in two parts. An arc is tight if it leads to the distance of its end.
//
// Tight arcs of positive weight lead to a larger distance, so any choice of them is free of cycles.
// Only vertices without such an arc need a parent at the same distance. They take a vertex that has
// a parent already, so no cycle closes.

#include "apps/shortest_paths/parents.cuh"

#include "apps/support/device.cuh"

#include <warden/allocate.cuh>
#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <utility>

namespace shortest_paths {

namespace {

namespace simt = warden::simt;
using graph::no_vertex;
using graph::vertex;

struct parent_arguments {
  graph::csr_view rows;
  vertex source;
  distance_view distances;
  vertex* parents;
  std::uint64_t* count;  ///< vertices without a parent, then those in `next`
  vertex const* queue;   ///< vertices to begin at; null: all
  std::uint64_t queued;  ///< number of these
  vertex* next;          ///< vertices that got a parent
};

WARDEN_KERNEL void begin_parents(parent_arguments a) {
  apps::for_my_share(a.rows.vertices,
                     [&](std::uint64_t v) { a.parents[v] = v == a.source ? a.source : no_vertex; });
}

/// Calls `f(u, v, tight, weight)` for the arcs of the vertices to begin at, one row per warp.
template <class F>
WARDEN_DEVICE void for_arcs(parent_arguments const& a, F f) {
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  for (std::uint64_t i = simt::block_rank() * warps + simt::warp_rank(); i < a.queued;
       i += simt::block_count() * warps) {
    vertex const u = a.queue == nullptr ? static_cast<vertex>(i) : a.queue[i];
    std::uint64_t const from = a.distances[u];
    if (from == no_distance) continue;
    for (std::uint64_t arc = a.rows.offsets[u] + simt::lane_id();
         arc < a.rows.offsets[u + std::uint64_t{1}]; arc += simt::warp_size) {
      vertex const v = a.rows.neighbours[arc];
      graph::weight const w = a.rows.weights[arc];
      if (from + w == a.distances[v]) f(u, v, w);
    }
  }
}

WARDEN_KERNEL void follow_positive_arcs(parent_arguments a) {
  for_arcs(a, [&](vertex u, vertex v, graph::weight w) {
    if (w != 0) simt::store_relaxed(&a.parents[v], u);
  });
}
WARDEN_KERNEL void count_orphans(parent_arguments a) {
  std::uint64_t mine = 0;
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    if (a.parents[v] == no_vertex && a.distances[v] != no_distance) ++mine;
  });
  if (mine != 0) simt::fetch_add(a.count, mine);
}
WARDEN_KERNEL void follow_zero_arcs(parent_arguments a) {
  for_arcs(a, [&](vertex u, vertex v, graph::weight w) {
    if (w != 0 || simt::load_relaxed(&a.parents[u]) == no_vertex) return;
    if (simt::load_relaxed(&a.parents[v]) != no_vertex) return;
    if (simt::compare_exchange(&a.parents[v], no_vertex, u) == no_vertex)
      a.next[simt::fetch_add(a.count, std::uint64_t{1})] = v;
  });
}

void run(void (*kernel)(parent_arguments), parent_arguments const& a) {
  simt::launch(kernel, apps::blocks(), apps::threads(), 0, a, {});
}

}  // namespace

void find_parents(graph::csr_view const& rows, vertex source, distance_view distances,
                  vertex* parents, std::source_location where) {
  warden::buffer<std::uint64_t> count{1, where};
  count.fill_bytes(0);
  parent_arguments a{rows,         source,  distances,     parents,
                     count.data(), nullptr, rows.vertices, nullptr};
  run(&begin_parents, a);
  run(&follow_positive_arcs, a);
  run(&count_orphans, a);
  if (count.to_host()[0] == 0) return;
  warden::buffer<vertex> queue{rows.vertices, where}, next{rows.vertices, where};
  // Each iteration but the last gives a vertex a parent.
  while (a.queued != 0) {
    a.next = next.data();
    count.fill_bytes(0);
    run(&follow_zero_arcs, a);
    a.queued = count.to_host()[0];
    std::swap(queue, next);
    a.queue = queue.data();
  }
}

}  // namespace shortest_paths
