// SPDX-License-Identifier: Apache-2.0
// The graphs that programs about graphs measure: large ones that are generated, real ones from
// files, and a small one for the simulated device.
#pragma once

#include "apps/graph/edge_list.hpp"
#include "microbench/support/report.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One of them: undirected, with weights if its file or its generator gives some.
struct graph_input {
  std::uint64_t vertices;
  std::function<graph::edge_list()> make;
};

/// The measurements of one input, by all arms.
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

/// A program's options for such graphs.
class graph_inputs {
 public:
  /// Adds `--input` and `--data`; before the program parses. `usual` are measured on a GPU by
  /// default.
  explicit graph_inputs(program& p,
                        std::vector<std::string> usual = {"rmat22", "uniform23", "road24m",
                                                          "rome99", "luxembourg", "facebook"});
  /// The graphs that were asked for, by name, in that order; by default a small one on the
  /// simulated device and the usual ones on a GPU. After the program has parsed.
  [[nodiscard]] std::vector<std::pair<std::string, graph_input>> chosen() const;

 private:
  program& program_;
  std::vector<std::string> usual_, names_;
  std::string data_ = "apps/data";
};

}  // namespace bench
