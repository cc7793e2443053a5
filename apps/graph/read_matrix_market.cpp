// SPDX-License-Identifier: Apache-2.0
// Matrix Market: a matrix whose entries are the edges.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/formats.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace graph {

namespace {

enum class values { pattern, integer, real };

struct banner {
  values kind;
  bool symmetric;
};

constexpr char const* banner_form =
    "%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric";

std::string lower(std::string_view text) {
  std::string s{text};
  std::transform(s.begin(), s.end(), s.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return s;
}

banner read_banner(line_reader& lines) {
  std::string_view line;
  if (!lines.next(line)) throw std::runtime_error{lines.path() + ": no header " + banner_form};
  line_fields fields{line, lines};
  std::string const first = lower(fields.word()), object = lower(fields.word()),
                    form = lower(fields.word()), kind = lower(fields.word()),
                    symmetry = lower(fields.word());
  if (first != "%%matrixmarket") fields.refuse(std::string{"no header "} + banner_form);
  if (object != "matrix" || form != "coordinate" ||
      (kind != "pattern" && kind != "integer" && kind != "real") ||
      (symmetry != "general" && symmetry != "symmetric")) {
    fields.refuse("\"" + apps::shown(object + " " + form + " " + kind + " " + symmetry) +
                  "\" is not read; what is: " + banner_form);
  }
  fields.finish();
  return {kind == "pattern"   ? values::pattern
          : kind == "integer" ? values::integer
                              : values::real,
          symmetry == "symmetric"};
}

/// The next line that is neither empty nor a comment.
bool next_line(line_reader& lines, std::string_view& line) {
  while (lines.next(line)) {
    if (!line.empty() && line[0] != '%' && !line_fields{line, lines}.at_end()) return true;
  }
  return false;
}

/// Reads the entries of a matrix of one kind of values.
template <values Kind>
void read_entries(line_reader& lines, banner const& b, double factor, std::uint64_t entries,
                  edge_list& list) {
  edge_sink sink{list, lines};
  constexpr std::string_view shortest = Kind == values::pattern ? "1 1\n" : "1 1 0\n";
  sink.reserve(entries, shortest.size(), Kind != values::pattern);
  std::string_view line;
  while (next_line(lines, line)) {
    line_fields fields{line, lines};
    if (list.edges() == entries) {
      fields.refuse("one more than the " + std::to_string(entries) +
                    " entries that the file announces");
    }
    auto const row = static_cast<vertex>(fields.number("row", 1, list.vertices) - 1);
    auto const column = static_cast<vertex>(fields.number("column", 1, list.vertices) - 1);
    if (b.symmetric && row < column) {
      fields.refuse("row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) +
                    " lies above the diagonal; of a symmetric matrix what lies below is stored");
    }
    if constexpr (Kind == values::pattern) {
      sink.add(row, column);
    } else if constexpr (Kind == values::integer) {
      sink.add(row, column, static_cast<weight>(fields.number("weight", 0, most_weight)));
    } else {
      sink.add(row, column, real_weight(fields, factor));
    }
    fields.finish();
  }
  check_count(lines, list.edges(), entries, "entries");
}

}  // namespace

edge_list read_matrix_market(line_reader& lines, double weight_factor) {
  banner const b = read_banner(lines);
  std::string_view line;
  if (!next_line(lines, line))
    throw std::runtime_error{lines.path() + ": no line ROWS COLUMNS ENTRIES"};
  line_fields fields{line, lines};
  std::uint64_t const rows = fields.number("the number of rows", 0, most_vertices),
                      columns = fields.number("the number of columns", 0, most_vertices),
                      entries = fields.number("the number of entries", 0, ~std::uint64_t{0});
  fields.finish();
  if (rows != columns) {
    fields.refuse(std::to_string(rows) + " rows and " + std::to_string(columns) +
                  " columns; the matrix of a graph is square");
  }
  edge_list list;
  list.first_name = 1;
  list.vertices = rows;
  list.directed = !b.symmetric;
  switch (b.kind) {
    case values::pattern:
      read_entries<values::pattern>(lines, b, 0, entries, list);
      break;
    case values::integer:
      read_entries<values::integer>(lines, b, 0, entries, list);
      break;
    case values::real:
      read_entries<values::real>(lines, b, weight_factor, entries, list);
      break;
  }
  return list;
}

}  // namespace graph
