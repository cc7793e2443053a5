// SPDX-License-Identifier: Apache-2.0
// Audit: reads every arc once.

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/state.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

namespace breadth_first {

namespace {

struct audit_arguments {
  graph::csr_view rows;
  std::uint32_t source;
  std::uint32_t const* levels;
  std::uint32_t const* parents;
  std::uint32_t* has_arc;  ///< [vertex] 1 if an arc comes from its parent
  findings* found;
};

/// Checks the arcs, one row per warp.
WARDEN_KERNEL void look_at_arcs(audit_arguments a) {
  std::uint64_t const warps = simt::block_threads() / simt::warp_size;
  std::uint64_t skipped = 0;
  for (std::uint64_t u = simt::block_rank() * warps + simt::warp_rank(); u < a.rows.vertices;
       u += simt::block_count() * warps) {
    std::uint32_t const level = a.levels[u];
    if (level == unreached) continue;
    for (std::uint64_t arc = a.rows.offsets[u] + simt::lane_id(); arc < a.rows.offsets[u + 1];
         arc += simt::warp_size) {
      std::uint32_t const v = a.rows.neighbours[arc];
      // Also counts arcs to unreached vertices, whose level is the highest number.
      if (a.levels[v] > level + 1) ++skipped;
      if (a.parents[v] == u) simt::store_relaxed(&a.has_arc[v], 1u);
    }
  }
  if (skipped != 0) simt::fetch_add(&a.found->skipped, skipped);
}

WARDEN_KERNEL void look_at_vertices(audit_arguments a) {
  findings mine{};
  apps::for_my_share(a.rows.vertices, [&](std::uint64_t v) {
    std::uint32_t const level = a.levels[v], parent = a.parents[v];
    if (level == unreached) {
      if (parent != unreached) ++mine.torn;
      return;
    }
    ++mine.reached;
    mine.arcs += a.rows.offsets[v + 1] - a.rows.offsets[v];
    if (level > mine.depth) mine.depth = level;
    if (v == a.source) return;
    if (parent >= a.rows.vertices || level == 0 || a.levels[parent] != level - 1) ++mine.torn;
    if (a.has_arc[v] == 0) ++mine.orphans;
  });
  auto const add = [](std::uint64_t* to, std::uint64_t n) {
    if (n != 0) simt::fetch_add(to, n);
  };
  add(&a.found->reached, mine.reached);
  add(&a.found->arcs, mine.arcs);
  add(&a.found->torn, mine.torn);
  add(&a.found->orphans, mine.orphans);
  simt::fetch_max(&a.found->depth, mine.depth);
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  a.found->begins_at_source = a.levels[a.source] == 0 && a.parents[a.source] == a.source;
}

}  // namespace

findings audit(graph::csr_view const& rows, std::uint32_t source, std::uint32_t const* levels,
               std::uint32_t const* parents) {
  warden::buffer<std::uint32_t> has_arc{rows.vertices};
  warden::buffer<findings> found{1};
  has_arc.fill_bytes(0);
  found.fill_bytes(0);
  audit_arguments const a{rows, source, levels, parents, has_arc.data(), found.data()};
  simt::launch(&look_at_arcs, apps::blocks(), apps::threads(), 0, a, {});
  simt::launch(&look_at_vertices, apps::blocks(), apps::threads(), 0, a, {});
  return found.to_host()[0];
}

std::string error_text(findings const& f) {
  std::string found;
  auto const complain = [&](bool wrong, std::string const& what) {
    if (wrong) found += (found.empty() ? "" : "; ") + what;
  };
  auto const number = [](std::uint64_t n) { return std::to_string(n); };
  complain(!f.begins_at_source, "the source is not at level 0, or not its own parent");
  complain(f.skipped != 0, number(f.skipped) + " arcs lead more than one level up, or to none");
  complain(f.torn != 0, number(f.torn) + " vertices whose parent is not one level below");
  complain(f.orphans != 0, number(f.orphans) + " vertices to which no arc of their parent leads");
  return found;
}

}  // namespace breadth_first
