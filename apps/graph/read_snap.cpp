// SPDX-License-Identifier: Apache-2.0
// Edge lists as SNAP has them: numbers of vertices, which may leave any numbers out.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/formats.hpp"
#include "apps/graph/occurrences.hpp"
#include "apps/text/matrix_market.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace graph {

namespace {

/// Vertices are numbered from 0 on without gaps, in the order of the file's numbers.
void number_vertices(edge_list& list) {
  auto const ends = {&list.from, &list.to};
  vertex least = no_vertex, largest = 0;
  for (auto* const end : ends) {
    for (vertex const v : *end) {
      least = std::min(least, v);
      largest = std::max(largest, v);
    }
  }
  occurrences occurring{largest};
  for (auto* const end : ends) {
    for (vertex const v : *end) occurring.add(v);
  }
  list.vertices = occurring.rank();
  if (list.vertices == std::uint64_t{largest} - least + 1) {
    list.first_name = least;
  } else {
    list.names = occurring.all(list.vertices);
  }
  if (least == 0 && list.names.empty()) return;
  for (auto* const end : ends) {
    for (vertex& v : *end) v = list.names.empty() ? v - least : occurring.below(v);
  }
}

/// Sets the direction that a comment such as `# Undirected graph: ...` says; ignores others.
void read_direction(std::string_view comment, edge_list& list) {
  if (comment[0] != '#') return;
  comment = apps::trimmed(comment.substr(1));
  if (comment.starts_with("Directed graph")) list.directed = true;
  if (comment.starts_with("Undirected graph")) list.directed = false;
}

}  // namespace

edge_list read_snap(apps::line_reader& lines, read_options const& o) {
  edge_list list;
  edge_sink sink{list, lines};
  bool weighted = false;
  std::string_view line;
  while (lines.next(line)) {
    line = apps::trimmed(line);
    if (line.empty()) continue;
    if (line[0] == '#' || line[0] == '%') {
      if (apps::is_matrix_banner(line))
        lines.here().refuse("this is a matrix of Matrix Market; read it with --format mtx");
      read_direction(line, list);
      continue;
    }
    apps::line_fields fields{line, lines};
    auto const from = static_cast<vertex>(fields.number("vertex", 0, most_vertices - 1));
    auto const to = static_cast<vertex>(fields.number("vertex", 0, most_vertices - 1));
    if (list.edges() == 0) weighted = !fields.at_end();  // all edges are like the first
    if (weighted && !o.skips_weights) {
      sink.add(from, to, weight_of(fields, "weight", o));
    } else {
      if (weighted) fields.skip("weight");
      sink.add(from, to);
    }
    fields.finish();
  }
  if (list.edges() != 0) number_vertices(list);
  return list;
}

}  // namespace graph
