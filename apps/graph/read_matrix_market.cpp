// SPDX-License-Identifier: Apache-2.0
// Matrix Market: a matrix whose entries are the edges.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/formats.hpp"
#include "apps/text/matrix_market.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace graph {

edge_list read_matrix_market(apps::line_reader& lines, read_options const& o) {
  std::string_view banner;
  lines.next(banner);
  apps::matrix_header const header = apps::read_matrix_header(
      lines, banner, "pattern|integer|real general|symmetric", most_vertices);
  if (header.rows != header.columns) {
    lines.here().refuse(std::to_string(header.rows) + " rows and " +
                        std::to_string(header.columns) +
                        " columns; the matrix of a graph is square");
  }
  edge_list list;
  list.first_name = 1;
  list.vertices = header.rows;
  list.directed = !header.is_symmetric;
  edge_sink sink{list, lines};
  constexpr std::string_view shortest = "1 1\n", shortest_weighted = "1 1 0\n";
  sink.reserve(header.entries, (header.is_pattern ? shortest : shortest_weighted).size(),
               !header.is_pattern && !o.skips_weights);
  for_entries(lines, header, [&](vertex row, vertex column, apps::line_fields& fields) {
    if (header.is_pattern) {
      sink.add(row, column);
    } else if (o.skips_weights) {
      fields.skip("weight");
      sink.add(row, column);
    } else {
      sink.add(row, column, weight_of(fields, "weight", o));
    }
  });
  return list;
}

}  // namespace graph
