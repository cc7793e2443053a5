// SPDX-License-Identifier: Apache-2.0
// Writes the formats.

#include "apps/graph/formats.hpp"
#include "apps/graph/writers.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress.hpp"
#include "apps/support/text_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace graph {

namespace {

[[noreturn]] void refuse(std::string const& path, std::string const& what) {
  throw std::runtime_error{path + ": cannot be written: " + what};
}

/// Calls `line(e)` for each edge, and ends its line.
template <class Line>
void write_edges(apps::text_writer& out, edge_list const& g, std::string const& path, Line line) {
  apps::progress bar{"writing " + path, g.edges()};
  for (std::uint64_t e = 0; e < g.edges(); ++e) {
    line(e);
    out.end_line();
    if (e % (1 << 16) == 0) bar.advance_to(e);
  }
}

/// True if the edge is two arcs, one each way; a self-loop is one.
bool is_two_arcs(edge_list const& g, std::uint64_t e) {
  return !g.directed && g.from[e] != g.to[e];
}

void write_dimacs(apps::text_writer& out, edge_list const& g, std::string const& path,
                  dimacs_problem problem) {
  std::uint64_t arcs = g.edges();
  for (std::uint64_t e = 0; e < g.edges(); ++e) arcs += is_two_arcs(g, e) ? 1 : 0;
  out << "p " << (problem == dimacs_problem::sp ? "sp " : "max ") << g.vertices << " " << arcs;
  out.end_line();
  auto const terminal = [&](vertex v, char const* kind) {
    if (v == no_vertex) return;
    out << "n " << std::uint64_t{v} + 1 << kind;
    out.end_line();
  };
  if (problem == dimacs_problem::max) {
    terminal(g.ends->source, " s");
    terminal(g.ends->sink, " t");
  }
  auto const arc = [&](vertex from, vertex to, weight w) {
    out << "a " << std::uint64_t{from} + 1 << " " << std::uint64_t{to} + 1 << " " << w;
  };
  write_edges(out, g, path, [&](std::uint64_t e) {
    arc(g.from[e], g.to[e], g.weights[e]);
    if (!is_two_arcs(g, e)) return;
    out.end_line();
    arc(g.to[e], g.from[e], g.weights[e]);
  });
}

void write_matrix_market(apps::text_writer& out, edge_list const& g, std::string const& path) {
  out << g.vertices << " " << g.vertices << " " << g.edges();
  out.end_line();
  write_edges(out, g, path, [&](std::uint64_t e) {
    std::uint64_t row = g.from[e], column = g.to[e];
    if (!g.directed && row < column) std::swap(row, column);  // below the diagonal
    out << row + 1 << " " << column + 1;
    if (g.is_weighted()) out << " " << g.weights[e];
  });
}

void write_snap(apps::text_writer& out, edge_list const& g, std::string const& path) {
  write_edges(out, g, path, [&](std::uint64_t e) {
    out << g.name_of(g.from[e]) << "\t" << g.name_of(g.to[e]);
    if (g.is_weighted()) out << "\t" << g.weights[e];
  });
}

/// Returns the first line or lines. The content of `comment`, such as a file's name, has no effect
/// on readers.
std::string beginning(edge_list const& g, file_format format, std::string comment) {
  std::replace_if(
      comment.begin(), comment.end(), [](char c) { return c == '\n' || c == '\r'; }, '?');
  if (format == file_format::snap)
    return std::string{g.directed ? "# Directed" : "# Undirected"} + " graph\n# from " + comment;
  if (format != file_format::matrix_market) return "c " + comment;
  return std::string{"%%MatrixMarket matrix coordinate "} +
         (g.is_weighted() ? "integer " : "pattern ") + (g.directed ? "general" : "symmetric") +
         "\n% " + comment;
}

/// Returns a text with the number of vertices that a reader of the file will miss; empty if none.
std::string lost_vertices(edge_list const& g, std::string const& path) {
  std::vector<bool> has_edge(g.vertices);
  for (auto const* const ends : {&g.from, &g.to}) {
    for (vertex const v : *ends) has_edge[v] = true;
  }
  auto const lost = std::count(has_edge.begin(), has_edge.end(), false);
  if (lost == 0) return {};
  return path + ": " + std::to_string(lost) + " of " + std::to_string(g.vertices) +
         " vertices are lost, as they have no edges and the file lists edges only; write .gr or "
         ".mtx";
}

}  // namespace

void check_output(std::string const& path, std::optional<file_format> format, bool has_ends) {
  if (known_format(path, format) == file_format::max_flow && !has_ends)
    refuse(path, "the graph has no source and sink");
}

std::string write_graph(apps::output_file& to, edge_list const& g, std::string const& comment,
                        std::optional<file_format> format) {
  std::string const& path = to.path();
  file_format const f = known_format(path, format);
  bool const is_dimacs = f == file_format::shortest_path || f == file_format::max_flow;
  if (is_dimacs && !g.is_weighted() && g.edges() != 0) refuse(path, "the graph has no weights");
  if (f == file_format::max_flow && !g.ends) refuse(path, "the graph has no source and sink");
  apps::text_writer out{to};
  out << beginning(g, f, comment);
  out.end_line();
  switch (f) {
    case file_format::shortest_path:
      write_dimacs(out, g, path, dimacs_problem::sp);
      break;
    case file_format::max_flow:
      write_dimacs(out, g, path, dimacs_problem::max);
      break;
    case file_format::matrix_market:
      write_matrix_market(out, g, path);
      break;
    case file_format::snap:
      write_snap(out, g, path);
      break;
  }
  out.commit();
  return f == file_format::snap ? lost_vertices(g, path) : std::string{};
}

}  // namespace graph
