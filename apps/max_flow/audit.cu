// SPDX-License-Identifier: Apache-2.0
// Audit: reads every arc once.

#include "apps/max_flow/audit.cuh"
#include "apps/support/device.cuh"

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>

namespace max_flow {

namespace {

struct audit_arguments {
  network net;
  std::uint32_t const* residual;
  std::uint8_t const* sides;
  std::uint64_t* balances;  ///< [vertex] flow that leaves it, modulo 2^64
  findings* found;
};

WARDEN_KERNEL void look_at_arcs(audit_arguments a) {
  findings mine{};
  apps::for_my_share(a.net.arcs, [&](std::uint64_t arc) {
    std::uint32_t const back = a.net.reverse[arc];
    std::uint64_t const capacity = a.net.capacities[arc], residual = a.residual[arc];
    std::uint64_t const both = capacity + a.net.capacities[back];
    if (residual + a.residual[back] != both) ++mine.torn;
    // Flow along the reverse arc counts as negative flow.
    std::uint64_t const flow = capacity - residual;
    if (residual > both || (capacity != 0 && residual > capacity)) ++mine.outside;
    std::uint32_t const from = a.net.neighbours[back], to = a.net.neighbours[arc];
    if (flow != 0) simt::fetch_add(&a.balances[from], flow);
    if (a.sides[from] == 0 && a.sides[to] != 0) mine.cut += capacity;
  });
  auto const add = [](std::uint64_t* to, std::uint64_t n) {
    if (n != 0) simt::fetch_add(to, n);
  };
  add(&a.found->torn, mine.torn);
  add(&a.found->outside, mine.outside);
  add(&a.found->cut, mine.cut);
}

WARDEN_KERNEL void look_at_vertices(audit_arguments a) {
  network const& net = a.net;
  std::uint64_t unbalanced = 0;
  apps::for_my_share(net.vertices, [&](std::uint64_t v) {
    if (a.balances[v] != 0 && !net.is_terminal(static_cast<std::uint32_t>(v))) ++unbalanced;
  });
  if (unbalanced != 0) simt::fetch_add(&a.found->unbalanced, unbalanced);
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  a.found->from_source = a.balances[net.source];
  a.found->to_sink = 0 - a.balances[net.sink];
  a.found->is_between = a.sides[net.source] == 0 && a.sides[net.sink] != 0;
}

}  // namespace

findings audit(network const& net, std::uint32_t const* residual, std::uint8_t const* sides) {
  warden::buffer<std::uint64_t> balances{net.vertices};
  warden::buffer<findings> found{1};
  balances.fill_bytes(0);
  found.fill_bytes(0);
  audit_arguments const a{net, residual, sides, balances.data(), found.data()};
  simt::launch(&look_at_arcs, apps::blocks(), apps::threads(), 0, a, {});
  simt::launch(&look_at_vertices, apps::blocks(), apps::threads(), 0, a, {});
  return found.to_host()[0];
}

std::string error_text(findings const& f, std::uint64_t value) {
  std::string found;
  auto const complain = [&](bool wrong, std::string const& what) {
    if (wrong) found += (found.empty() ? "" : "; ") + what;
  };
  auto const number = [](std::uint64_t n) { return std::to_string(n); };
  complain(f.torn != 0, number(f.torn) + " arcs whose reverse arc has another flow");
  complain(f.outside != 0, number(f.outside) + " arcs with a flow below 0 or above their capacity");
  complain(f.unbalanced != 0, number(f.unbalanced) + " vertices that do not conserve flow");
  complain(f.from_source != value,
           number(f.from_source) + " leave the source, not " + number(value));
  complain(f.to_sink != value, number(f.to_sink) + " reach the sink, not " + number(value));
  complain(!f.is_between, "the cut does not separate source and sink");
  complain(f.cut != value, "the cut has capacity " + number(f.cut) + ", not " + number(value));
  return found;
}

}  // namespace max_flow
