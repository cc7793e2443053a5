// SPDX-License-Identifier: Apache-2.0
// Builds rows from edges on the device.

#include "apps/graph/device_csr.cuh"

#include "apps/graph/primitives.hpp"
#include "apps/support/device.cuh"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace graph {

namespace {

namespace simt = warden::simt;
constexpr std::uint64_t none = ~std::uint64_t{0};
constexpr std::uint64_t most_arcs = std::uint64_t{1} << 32;

template <class Argument>
void run(void (*kernel)(Argument), warden::stream_ref s, std::type_identity_t<Argument> const& a) {
  warden::launch(kernel, apps::blocks(), apps::threads(), s, a);
}

/// Edges, and the arcs made of them. If arcs come in pairs, arc a belongs to edge a / 2; it leads
/// forward if a is even and back if a is odd.
struct arc_source {
  vertex const* from;
  vertex const* to;
  weight const* weights;
  std::uint64_t vertices, edges;
  arcs_of kind;
};

struct key_arguments {
  arc_source g;
  std::uint32_t* keys;      ///< vertex where each arc starts
  std::uint32_t* arcs;      ///< number of each arc
  std::uint64_t* bad_edge;  ///< first edge with a vertex that is not in the graph
};
WARDEN_KERNEL void make_keys(key_arguments a) {
  apps::for_my_share(a.g.edges, [&](std::uint64_t e) {
    vertex const from = a.g.from[e], to = a.g.to[e];
    if (from >= a.g.vertices || to >= a.g.vertices) simt::fetch_min(a.bad_edge, e);
    if (a.g.kind == arcs_of::directed) {
      a.keys[e] = from;
      a.arcs[e] = static_cast<std::uint32_t>(e);
    } else {
      a.keys[2 * e] = from;
      a.keys[2 * e + 1] = to;
      a.arcs[2 * e] = static_cast<std::uint32_t>(2 * e);
      a.arcs[2 * e + 1] = static_cast<std::uint32_t>(2 * e + 1);
    }
  });
}

struct degree_arguments {
  std::uint32_t const* occurring;
  std::uint64_t const* lengths;
  std::uint64_t runs;
  std::uint64_t* degrees;
};
WARDEN_KERNEL void place_degrees(degree_arguments a) {
  apps::for_my_share(a.runs, [&](std::uint64_t r) { a.degrees[a.occurring[r]] = a.lengths[r]; });
}

struct fill_arguments {
  arc_source g;
  std::uint64_t arcs;
  std::uint32_t const* order;  ///< the arc at each place
  vertex* neighbours;
  weight* weights;         ///< or null
  std::uint32_t* edges;    ///< or null
  std::uint32_t* places;   ///< place of each arc, or null
  std::uint32_t* reverse;  ///< or null
};
WARDEN_KERNEL void fill_rows(fill_arguments a) {
  apps::for_my_share(a.arcs, [&](std::uint64_t p) {
    std::uint32_t const arc = a.order[p];
    bool const pairs = a.g.kind != arcs_of::directed, is_back = pairs && arc % 2 == 1;
    std::uint32_t const e = pairs ? arc / 2 : arc;
    a.neighbours[p] = is_back ? a.g.from[e] : a.g.to[e];
    if (a.weights != nullptr)
      a.weights[p] = is_back && a.g.kind == arcs_of::flow ? 0 : a.g.weights[e];
    if (a.edges != nullptr) a.edges[p] = e;
    if (a.places != nullptr) a.places[arc] = static_cast<std::uint32_t>(p);
  });
}
WARDEN_KERNEL void fill_reverse(fill_arguments a) {
  apps::for_my_share(a.arcs, [&](std::uint64_t p) { a.reverse[p] = a.places[a.order[p] ^ 1]; });
}

/// Throws for an edge with a vertex that is not in the graph.
void check_edges(device_edges const& g, std::uint64_t bad, warden::stream_ref s) {
  if (bad == none) return;
  vertex ends[2];
  warden::copy(&ends[0], g.from.data() + bad, 1, s);
  warden::copy(&ends[1], g.to.data() + bad, 1, s);
  s.synchronize();
  throw std::invalid_argument{"graph: edge " + std::to_string(bad) + " joins " +
                              std::to_string(ends[0]) + " and " + std::to_string(ends[1]) +
                              "; there are " + std::to_string(g.vertices) + " vertices"};
}

/// Returns the offsets by sorted keys.
warden::buffer<std::uint64_t> count_rows(std::uint32_t const* keys, std::uint64_t arcs,
                                         std::uint64_t vertices, warden::stream_ref s) {
  warden::buffer<std::uint64_t> offsets{vertices + 1};
  offsets.fill_bytes(0, s);
  if (arcs == 0) return offsets;
  std::uint64_t const most_runs = std::min(arcs, vertices);
  warden::buffer<std::uint32_t> const occurring{most_runs};
  warden::buffer<std::uint64_t> const lengths{most_runs};
  std::uint64_t const runs = run_lengths(keys, arcs, occurring.data(), lengths.data(), s);
  run(&place_degrees, s, {occurring.data(), lengths.data(), runs, offsets.data()});
  exclusive_sum(offsets.data(), vertices + 1, s);
  return offsets;
}

}  // namespace

device_csr build_csr(device_edges const& g, csr_options const& o, warden::stream_ref s) {
  std::uint64_t const arcs = paired(o.arcs) ? 2 * g.edges() : g.edges();
  check_options(o, arcs);
  if (arcs > most_arcs) {
    throw std::invalid_argument{"graph: " + std::to_string(arcs) +
                                " arcs; on the device the limit is " + std::to_string(most_arcs)};
  }
  arc_source const source{g.from.data(), g.to.data(), g.weights.data(),
                          g.vertices,    g.edges(),   o.arcs};
  warden::buffer<std::uint32_t> const key_memory[2] = {warden::buffer<std::uint32_t>{arcs},
                                                       warden::buffer<std::uint32_t>{arcs}};
  warden::buffer<std::uint32_t> const arc_memory[2] = {warden::buffer<std::uint32_t>{arcs},
                                                       warden::buffer<std::uint32_t>{arcs}};
  array_pair keys{key_memory[0].data(), key_memory[1].data()};
  array_pair order{arc_memory[0].data(), arc_memory[1].data()};
  warden::buffer<std::uint64_t> bad_edge{1};
  bad_edge.fill_bytes(0xff, s);
  run(&make_keys, s, {source, keys.current, order.current, bad_edge.data()});
  check_edges(g, bad_edge.to_host(s)[0], s);

  device_csr rows;
  if (arcs != 0) {
    auto const bits = static_cast<unsigned>(std::bit_width(g.vertices - 1));
    sort_pairs(keys, order, arcs, std::max(1u, bits), s);
  }
  rows.offsets = count_rows(keys.current, arcs, g.vertices, s);
  rows.neighbours = warden::buffer<vertex>{arcs};
  if (g.weights.size() != 0) rows.weights = warden::buffer<weight>{arcs};
  if (o.edges) rows.edges = warden::buffer<std::uint32_t>{arcs};
  if (o.reverse) rows.reverse = warden::buffer<std::uint32_t>{arcs};
  fill_arguments const fill{source,
                            arcs,
                            order.current,
                            rows.neighbours.data(),
                            rows.weights.data(),
                            rows.edges.data(),
                            o.reverse ? order.other : nullptr,
                            rows.reverse.data()};
  run(&fill_rows, s, fill);
  if (o.reverse) run(&fill_reverse, s, fill);
  s.synchronize();  // reports errors of the device here
  return rows;
}

csr to_host(device_csr const& g, warden::stream_ref s) {
  return {g.offsets.to_host(s), g.neighbours.to_host(s), g.weights.to_host(s), g.edges.to_host(s),
          g.reverse.to_host(s)};
}

}  // namespace graph
