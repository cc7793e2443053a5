// SPDX-License-Identifier: Apache-2.0
// Audit: reads every arc once.

#include "apps/shortest_paths/audit.cuh"

#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

#include <bit>

namespace shortest_paths {

namespace {

namespace simt = warden::simt;
using graph::vertex;

struct audit_arguments {
  graph::csr_view rows;
  vertex source;
  distance_view distances;
  vertex const* parents;
  std::uint32_t* has_arc;  ///< [vertex] 1 if a tight arc comes from its parent
  vertex* ancestors;       ///< [vertex] an ancestor at the same distance
  findings* found;
};

/// Checks the arcs, one row per warp.
WARDEN_KERNEL void look_at_paths(audit_arguments a) {
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  std::uint64_t shortening = 0, leaving = 0;
  for (std::uint64_t u = simt::block_rank() * warps + simt::warp_rank(); u < a.rows.vertices;
       u += simt::block_count() * warps) {
    std::uint64_t const from = a.distances[u];
    if (from == no_distance) continue;
    for (std::uint64_t arc = a.rows.offsets[u] + simt::lane_id(); arc < a.rows.offsets[u + 1];
         arc += simt::warp_size) {
      vertex const v = a.rows.neighbours[arc];
      std::uint64_t const to = a.distances[v], sum = from + a.rows.weights[arc];
      if (to == no_distance) {
        ++leaving;
      } else if (sum < to) {
        ++shortening;
      }
      if (a.parents[v] == u && sum == to) simt::store_relaxed(&a.has_arc[v], 1u);
    }
  }
  if (shortening != 0) simt::fetch_add(&a.found->shortening, shortening);
  if (leaving != 0) simt::fetch_add(&a.found->leaving, leaving);
}

/// True if the vertex is the source, or its parent has a smaller distance. A tight arc does not
/// lead to a smaller distance, so all vertices of a cycle of tight arcs have the same distance.
WARDEN_DEVICE bool is_rooted(audit_arguments const& a, std::uint64_t v) {
  vertex const parent = a.parents[v];
  return v == a.source || (parent < a.rows.vertices && a.distances[parent] < a.distances[v]);
}

WARDEN_KERNEL void begin_ancestors(audit_arguments a) {
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    bool const stays = is_rooted(a, v) || a.parents[v] >= a.rows.vertices;
    a.ancestors[v] = stays ? static_cast<vertex>(v) : a.parents[v];
  });
}
/// Moves each vertex's ancestor at least twice as far away, if that many exist.
WARDEN_KERNEL void follow_ancestors(audit_arguments a) {
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    vertex const ancestor = simt::load_relaxed(&a.ancestors[v]);
    simt::store_relaxed(&a.ancestors[v], simt::load_relaxed(&a.ancestors[ancestor]));
  });
}

WARDEN_KERNEL void look_at_ends(audit_arguments a) {
  findings mine{};
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    std::uint64_t const distance = a.distances[v];
    if (distance == no_distance) {
      if (a.parents[v] != graph::no_vertex) ++mine.strays;
      return;
    }
    ++mine.reached;
    mine.arcs += a.rows.offsets[v + 1] - a.rows.offsets[v];
    if (distance > mine.farthest) mine.farthest = distance;
    if (v == a.source) return;
    if (a.has_arc[v] == 0) {
      ++mine.orphans;
    } else if (!is_rooted(a, a.ancestors[v])) {
      ++mine.unrooted;
    }
  });
  auto const add = [](std::uint64_t* to, std::uint64_t n) {
    if (n != 0) simt::fetch_add(to, n);
  };
  add(&a.found->reached, mine.reached);
  add(&a.found->arcs, mine.arcs);
  add(&a.found->orphans, mine.orphans);
  add(&a.found->unrooted, mine.unrooted);
  add(&a.found->strays, mine.strays);
  simt::fetch_max(&a.found->farthest, mine.farthest);
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  a.found->begins_at_source = a.distances[a.source] == 0 && a.parents[a.source] == a.source;
}

}  // namespace

findings audit(graph::csr_view const& rows, vertex source, distance_view distances,
               vertex const* parents) {
  warden::buffer<std::uint32_t> has_arc{rows.vertices};
  warden::buffer<vertex> const ancestors{rows.vertices};
  warden::buffer<findings> found{1};
  has_arc.fill_bytes(0);
  found.fill_bytes(0);
  audit_arguments const a{rows,           source,           distances,   parents,
                          has_arc.data(), ancestors.data(), found.data()};
  auto const run = [&](void (*kernel)(audit_arguments)) {
    simt::launch(kernel, apps::blocks(), apps::threads(), 0, a, {});
  };
  run(&look_at_paths);
  run(&begin_ancestors);
  for (int doubled = std::bit_width(rows.vertices); doubled > 0; --doubled) run(&follow_ancestors);
  run(&look_at_ends);
  return found.to_host()[0];
}

std::string error_text(findings const& f) {
  std::string found;
  auto const complain = [&](bool wrong, std::string const& what) {
    if (wrong) found += (found.empty() ? "" : "; ") + what;
  };
  auto const number = [](std::uint64_t n) { return std::to_string(n); };
  complain(!f.begins_at_source, "the source is not at distance 0, or not its own parent");
  complain(f.shortening != 0, number(f.shortening) + " arcs shorten a distance");
  complain(f.leaving != 0, number(f.leaving) + " arcs lead to unreached vertices");
  complain(f.orphans != 0, number(f.orphans) + " vertices without a tight arc from their parent");
  complain(f.unrooted != 0,
           number(f.unrooted) + " vertices whose parents do not lead to the source");
  complain(f.strays != 0, number(f.strays) + " unreached vertices with a parent");
  return found;
}

}  // namespace shortest_paths
