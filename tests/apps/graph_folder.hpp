// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, and the errors of a graph's file.
#pragma once

#include "apps/graph/readers.hpp"
#include "apps/graph/writers.hpp"
#include "apps/support/output_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace test {

class graph_folder : public testing::Test {
 protected:
  graph_folder() {
    std::string name = std::filesystem::temp_directory_path() / "warden_graph.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~graph_folder() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string const& name) const { return folder_ / name; }
  std::string write(std::string const& name, std::string const& text) {
    std::ofstream{path(name), std::ios::binary} << text;
    return path(name);
  }
  static std::string content(std::string const& path) {
    std::ostringstream text;
    text << std::ifstream{path, std::ios::binary}.rdbuf();
    return text.str();
  }
  graph::edge_list read(std::string const& name, std::string const& text,
                        graph::read_options const& o = {}) {
    return graph::read_graph(write(name, text), o);
  }
  /// Returns the error's text after the file's name.
  std::string error_of(std::string const& name, std::string const& text,
                       graph::read_options const& o = {}) {
    return error_from([&] { read(name, text, o); }, path(name));
  }
  /// Writes a graph's file of this path; returns the parts that the format lost.
  static std::string write_graph(std::string const& path, graph::edge_list const& g,
                                 std::string const& comment,
                                 std::optional<graph::file_format> format = {}) {
    apps::output_file to{path};
    return graph::write_graph(to, g, comment, format);
  }
  template <class F>
  static std::string error_from(F f, std::string const& path) {
    try {
      f();
    } catch (std::exception const& e) {
      std::string const what = e.what();
      EXPECT_EQ(what.substr(0, path.size()), path);
      return what.substr(std::min(what.size(), path.size()));
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

/// An edge list in one line.
inline graph::edge_list edges(std::uint64_t vertices, bool directed,
                              std::vector<graph::vertex> from, std::vector<graph::vertex> to,
                              std::vector<graph::weight> weights = {}) {
  graph::edge_list g;
  g.vertices = vertices;
  g.directed = directed;
  g.from = std::move(from);
  g.to = std::move(to);
  g.weights = std::move(weights);
  return g;
}

/// Returns the contents of a file that counts vertices from 1 on.
inline graph::edge_list from_one(graph::edge_list g) {
  g.first_name = 1;
  return g;
}

}  // namespace test
