// SPDX-License-Identifier: Apache-2.0
// Input graphs of benchmarks: large generated graphs, real graphs from files, and a small graph for
// the simulated device.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// An undirected graph, with weights if its file or generator gives weights.
struct graph_input {
  std::uint64_t vertices;
  std::function<graph::edge_list()> make;
};

/// Point of one input graph.
class graph_point : public point {
 public:
  graph_point(std::string name, graph_input input)
      : name_{std::move(name)}, input_{std::move(input)} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "find/" + name_ + "/" + arm + "/keys:" + std::to_string(input_.vertices);
  }

 protected:
  [[nodiscard]] graph::edge_list make() const { return input_.make(); }

 private:
  std::string name_;
  graph_input input_;
};

/// Options of a program that chooses input graphs.
class graph_inputs {
 public:
  /// Adds `--input` and `--data`. Precondition: the program has not parsed its options yet. `usual`
  /// are the graphs that a GPU measures by default.
  explicit graph_inputs(program& p,
                        std::vector<std::string> usual = {"rmat22", "uniform23", "road24m",
                                                          "rome99", "luxembourg", "facebook"});
  /// Returns the graphs of `--input`, in that order. By default these are a small graph on the
  /// simulated device and the usual graphs on a GPU. Precondition: the program has parsed its
  /// options.
  [[nodiscard]] std::vector<std::pair<std::string, graph_input>> chosen() const;

 private:
  program& program_;
  std::vector<std::string> usual_, names_;
  std::string data_ = "apps/data";
};

}  // namespace bench
