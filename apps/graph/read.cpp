// SPDX-License-Identifier: Apache-2.0
// Chooses the reader of a file.

#include "apps/graph/formats.hpp"
#include "apps/graph/readers.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace graph {

namespace {

using ending = std::pair<std::string_view, file_format>;
constexpr std::array<ending, 6> endings{{{".gr", file_format::shortest_path},
                                         {".max", file_format::max_flow},
                                         {".mtx", file_format::matrix_market},
                                         {".txt", file_format::snap},
                                         {".el", file_format::snap},
                                         {".edges", file_format::snap}}};

}  // namespace

std::optional<file_format> format_of(std::string const& path) {
  for (auto const& [text, format] : endings) {
    if (std::string_view{path}.ends_with(text)) return format;
  }
  return {};
}

std::vector<std::string> const& format_names() {
  static std::vector<std::string> const names{"gr", "max", "mtx", "txt"};
  return names;
}

file_format format_named(std::string const& name) {
  auto const& names = format_names();
  return static_cast<file_format>(std::find(names.begin(), names.end(), name) - names.begin());
}

file_format known_format(std::string const& path, std::optional<file_format> given) {
  if (auto const format = given ? given : format_of(path)) return *format;
  std::string known;
  for (auto const& [text, unused] : endings) known += " " + std::string{text};
  throw std::runtime_error{path + ": of no known format; the endings are" + known};
}

weight scaled_weight(apps::line_fields& fields, char const* what, read_options const& o) {
  double const factor = o.weight_factor;
  std::string_view const text = fields.word();
  double const value = fields.real(text, what), scaled = value * (factor == 0 ? 1 : factor) + 0.5;
  auto const refuse = [&](std::string const& why) {
    fields.refuse(std::string{what} + " " + apps::shown(text) + why);
  };
  if (value < 0) refuse(" is negative");
  if (!(scaled < static_cast<double>(most_weight) + 1)) {
    refuse((factor == 0 ? "" : ", multiplied by " + std::to_string(factor) + ",") +
           " is not from 0 to " + std::to_string(most_weight));
  }
  auto const whole = static_cast<weight>(scaled);
  if (factor == 0 && static_cast<double>(whole) != value)
    refuse(" has a fraction; --weight-factor makes whole numbers of all");
  return whole;
}

edge_list read_graph(std::string const& path, read_options const& o) {
  apps::line_reader lines{path};  // also refuses x.gr.gz, before its ending is looked at
  switch (known_format(path, o.format)) {
    case file_format::shortest_path:
      return read_dimacs(lines, dimacs_problem::sp, o);
    case file_format::max_flow:
      return read_dimacs(lines, dimacs_problem::max, o);
    case file_format::matrix_market:
      return read_matrix_market(lines, o);
    case file_format::snap:
      break;
  }
  return read_snap(lines, o);
}

}  // namespace graph
