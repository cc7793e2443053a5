// SPDX-License-Identifier: Apache-2.0
// Makes matrices from edges of graphs.

#include "microbench/sparse_product/matrix.hpp"

#include "apps/graph/device_csr.cuh"
#include "microbench/workloads/rows.cuh"

#include <warden/error.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace sparse_product {
namespace {

namespace simt = warden::simt;

struct edge_arguments {
  std::uint32_t rows;
  std::uint64_t edges;
  bool is_banded;
  graph::vertex *from, *to;
};
/// Makes the edges of one of two matrices. The banded one has as many diagonals around the main one
/// as a row has entries; they continue at the other end of a row. The other matrix has one dense
/// row in the middle; its other entries are drawn, the same number in each row.
WARDEN_KERNEL void make_edges(edge_arguments const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.edges, [&](std::uint64_t e) {
    std::uint64_t const in_row = a.edges / a.rows;
    if (a.is_banded) {
      a.from[e] = static_cast<graph::vertex>(e / in_row);
      a.to[e] =
          static_cast<graph::vertex>((e / in_row + a.rows + e % in_row - in_row / 2) % a.rows);
    } else {
      bool const is_dense = e < a.rows;
      a.from[e] = is_dense ? a.rows / 2 : static_cast<graph::vertex>((e - a.rows) / (in_row - 1));
      a.to[e] = static_cast<graph::vertex>(is_dense ? e : bench::mix(e, 3) % a.rows);
    }
  });
}

struct expand_arguments {
  std::uint64_t rows, entries;
  std::uint64_t const* wide_offsets;
  std::uint32_t* offsets;
  std::uint32_t* entry_rows;
};
WARDEN_KERNEL void expand(expand_arguments const a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.rows + 1, [&](std::uint64_t r) {
    a.offsets[r] = static_cast<std::uint32_t>(a.wide_offsets[r]);
  });
  bench::for_each_of(a.entries, [&](std::uint64_t e) {
    std::uint64_t first = 0, end = a.rows;  // the last row that begins at e or before
    while (end - first > 1) {
      std::uint64_t const middle = (first + end) / 2;
      (a.wide_offsets[middle] <= e ? first : end) = middle;
    }
    a.entry_rows[e] = static_cast<std::uint32_t>(first);
  });
}

graph::device_edges edges_of(std::string const& name, std::uint32_t scale) {
  std::uint64_t const entries = std::uint64_t{1} << scale;
  if (name == "uniform") {
    return graph::generate_on_device(
        graph::uniform{{.vertices = rows_of(name, scale), .edges = entries, .largest_weight = 1}});
  }
  if (name == "rmat") {
    return graph::generate_on_device(
        graph::rmat{{.scale = scale - 4, .edge_factor = 16, .largest_weight = 1}});
  }
  bool const is_banded = name == "banded";
  if (!is_banded && name != "dense_row")
    throw warden::limit_error{"sparse_product: no matrix is named " + name};
  graph::device_edges edges;
  edges.vertices = rows_of(name, scale);
  edges.from = warden::buffer<graph::vertex>{entries};
  edges.to = warden::buffer<graph::vertex>{entries};
  workloads::launch_helper(&make_edges, {static_cast<std::uint32_t>(edges.vertices), entries,
                                         is_banded, edges.from.data(), edges.to.data()});
  return edges;
}

}  // namespace

matrix make_matrix(std::string const& name, std::uint32_t scale) {
  graph::device_csr rows =
      graph::build_csr(edges_of(name, scale), {.arcs = graph::arcs_of::directed});
  matrix m{static_cast<std::uint32_t>(rows.vertices()),
           warden::buffer<std::uint32_t>{rows.offsets.size()},
           warden::buffer<std::uint32_t>{rows.arcs()}, std::move(rows.neighbours)};
  workloads::launch_helper(
      &expand, {m.rows, m.entries(), rows.offsets.data(), m.offsets.data(), m.entry_rows.data()});
  warden::stream_ref{}.synchronize();
  return m;
}

}  // namespace sparse_product
