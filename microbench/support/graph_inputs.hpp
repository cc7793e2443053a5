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

/// A program's options for such graphs.
class graph_inputs {
 public:
  /// Adds `--input` and `--data`; before the program parses.
  explicit graph_inputs(program& p);
  /// The graphs that were asked for, by name, in that order; by default the small one on the
  /// simulated device and all others on a GPU. After the program has parsed.
  [[nodiscard]] std::vector<std::pair<std::string, graph_input>> chosen() const;

 private:
  program& program_;
  std::vector<std::string> names_;
  std::string data_ = "apps/data";
};

}  // namespace bench
