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
  dimacs_reader(apps::line_reader& lines, dimacs_problem problem, read_options const& o)
      : lines_{lines}, problem_{problem}, options_{o}, sink_{list_, lines} {
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
    sink_.reserve(arcs_, shortest, !options_.skips_weights);
  }

  void arc(apps::line_fields& fields) {
    check_header(fields);
    if (list_.edges() == arcs_) {
      fields.refuse("one more than the " + std::to_string(arcs_) + " arcs that line " +
                    header_text() + " announces");
    }
    vertex const from = vertex_of(fields), to = vertex_of(fields);
    char const* const what = problem_ == dimacs_problem::sp ? "weight" : "capacity";
    if (options_.skips_weights) {
      fields.skip(what);
      sink_.add(from, to);
    } else {
      sink_.add(from, to, weight_of(fields, what, options_));
    }
    fields.finish();
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
    if (header_line_ == 0) {
      throw std::runtime_error{lines_.path() + ": no header p " + problem() + " VERTICES ARCS"};
    }
    check_count(lines_, list_.edges(), arcs_, "arcs");
    if (problem_ == dimacs_problem::max)
      list_.ends = {source_.value_or(no_vertex), target_.value_or(no_vertex)};
  }

  apps::line_reader& lines_;
  dimacs_problem problem_;
  read_options const& options_;
  edge_list list_;
  edge_sink sink_;
  std::uint64_t arcs_ = 0;
  std::size_t header_line_ = 0;  // 0: none yet
  std::optional<vertex> source_, target_;
};

}  // namespace

edge_list read_dimacs(apps::line_reader& lines, dimacs_problem problem, read_options const& o) {
  return dimacs_reader{lines, problem, o}.read();
}

}  // namespace graph
