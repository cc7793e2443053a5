// SPDX-License-Identifier: Apache-2.0
// The formats of the DIMACS challenges for shortest paths and maximum flow.

#include "apps/graph/edge_sink.hpp"
#include "apps/graph/formats.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace graph {

namespace {

class dimacs_reader {
 public:
  dimacs_reader(apps::line_reader& lines, dimacs_problem problem, double weight_factor)
      : lines_{lines}, problem_{problem}, weight_factor_{weight_factor}, sink_{list_, lines} {
    list_.first_name = 1;
  }

  edge_list read() {
    std::string_view line;
    while (lines_.next_data(line, "c")) {
      apps::line_fields fields{line, lines_};
      std::string_view const kind = fields.word();
      if (kind == "a") {
        arc(fields);
      } else if (kind == "p") {
        header(fields);
      } else if (kind == "n" && problem_ == dimacs_problem::max) {
        terminal(fields);
      } else {
        fields.refuse("a line of kind \"" + apps::shown(kind) + "\"; there are " +
                      (problem_ == dimacs_problem::max ? "a, c, n and p" : "a, c and p"));
      }
    }
    finish();
    return std::move(list_);
  }

 private:
  [[nodiscard]] char const* problem() const {
    return problem_ == dimacs_problem::sp ? "sp" : "max";
  }

  void header(apps::line_fields& fields) {
    if (header_line_ != 0) fields.refuse("a second header; the first is in line " + header_text());
    std::string_view const found = fields.word();
    if (found != problem()) {
      fields.refuse("a header for the problem \"" + apps::shown(found) + "\", not \"" + problem() +
                    "\"");
    }
    list_.vertices = fields.number("the number of vertices", 0, most_vertices);
    arcs_ = fields.number("the number of arcs", 0, ~std::uint64_t{0});
    fields.finish();
    header_line_ = lines_.here().line;
    constexpr std::uint64_t shortest = std::string_view{"a 1 1 0\n"}.size();
    sink_.reserve(arcs_, shortest, true);
  }

  void arc(apps::line_fields& fields) {
    check_header(fields);
    if (list_.edges() == arcs_) {
      fields.refuse("one more than the " + std::to_string(arcs_) + " arcs that line " +
                    header_text() + " announces");
    }
    vertex const from = vertex_of(fields), to = vertex_of(fields);
    weight const w =
        weight_of(fields, problem_ == dimacs_problem::sp ? "weight" : "capacity", weight_factor_);
    fields.finish();
    sink_.add(from, to, w);
  }

  void terminal(apps::line_fields& fields) {
    check_header(fields);
    vertex const v = vertex_of(fields);
    std::string_view const which = fields.word();
    fields.finish();
    if (which != "s" && which != "t")
      fields.refuse("\"" + apps::shown(which) + "\" is neither s, the source, nor t, the sink");
    std::optional<vertex>& place = which == "s" ? source_ : target_;
    if (place) fields.refuse(which == "s" ? "a second source" : "a second sink");
    place = v;
    if (source_ && target_ && *source_ == *target_)
      fields.refuse("vertex " + std::to_string(v + 1) + " is source and sink");
  }

  void check_header(apps::line_fields const& fields) const {
    if (header_line_ == 0)
      fields.refuse(std::string{"before the header p "} + problem() + " VERTICES ARCS");
  }
  vertex vertex_of(apps::line_fields& fields) {
    return static_cast<vertex>(
        fields.number("vertex", 1, list_.vertices, ", the number of vertices") - 1);
  }
  [[nodiscard]] std::string header_text() const { return std::to_string(header_line_); }

  void finish() {
    auto const lacks = [&](std::string const& what) {
      throw std::runtime_error{lines_.path() + ": " + what};
    };
    if (header_line_ == 0) lacks(std::string{"no header p "} + problem() + " VERTICES ARCS");
    check_count(lines_, list_.edges(), arcs_, "arcs");
    if (problem_ == dimacs_problem::sp) return;
    if (!source_) lacks("no line n VERTEX s names the source");
    if (!target_) lacks("no line n VERTEX t names the sink");
    list_.ends = {*source_, *target_};
  }

  apps::line_reader& lines_;
  dimacs_problem problem_;
  double weight_factor_;
  edge_list list_;
  edge_sink sink_;
  std::uint64_t arcs_ = 0;
  std::size_t header_line_ = 0;  // 0: none yet
  std::optional<vertex> source_, target_;
};

}  // namespace

edge_list read_dimacs(apps::line_reader& lines, dimacs_problem problem, double weight_factor) {
  return dimacs_reader{lines, problem, weight_factor}.read();
}

}  // namespace graph
