// SPDX-License-Identifier: Apache-2.0
// Searches of small graphs, and their errors.
#pragma once

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/reference.hpp"
#include "apps/breadth_first/searcher.cuh"
#include "apps/graph/device_csr.cuh"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A graph's rows on both sides, for any number of searches.
class searched {
 public:
  searched(graph::edge_list g, std::string const& arm, breadth_first::search_options const& o = {})
      : arm_{arm},
        directed_{g.directed},
        host_{build_csr(g, {which()})},
        out_{build_csr(to_device(g), {which()})},
        in_{directed_ ? turned(std::move(g)) : graph::device_csr{}},
        finder{out_.view(), directed_ ? in_.view() : out_.view(), arm, o} {}

  /// Returns the errors of a search from `source`; empty if there are none.
  std::string error_text_from(std::uint32_t source) {
    finder.find(source);
    auto const found = breadth_first::audit(out_.view(), source, finder.levels(), finder.parents());
    std::string const wrong = breadth_first::error_text(found);
    if (!wrong.empty()) return wrong;
    auto const wanted = breadth_first::levels_from(host_, source);
    std::vector<std::uint32_t> levels(wanted.size());
    warden::copy(levels.data(), finder.levels(), levels.size());
    warden::stream_ref{}.synchronize();
    if (levels != wanted) return "the audit passed levels that are not those of the reference";
    if (finder.facts().levels != found.depth + 1)
      return std::to_string(finder.facts().levels) + " levels were counted, not " +
             std::to_string(found.depth + 1);
    bool const once = finder.facts().found == found.reached;
    if (!once && (breadth_first::is_exact(arm_) || finder.facts().found < found.reached))
      return std::to_string(finder.facts().found) + " vertices were found, and " +
             std::to_string(found.reached) + " reached";
    return {};
  }

 private:
  [[nodiscard]] graph::arcs_of which() const {
    return directed_ ? graph::arcs_of::directed : graph::arcs_of::undirected;
  }
  static graph::device_csr turned(graph::edge_list g) {
    std::swap(g.from, g.to);
    return build_csr(to_device(g), {graph::arcs_of::directed});
  }

  std::string arm_;
  bool directed_;
  graph::csr host_;
  graph::device_csr out_, in_;

 public:
  breadth_first::searcher finder;
};

inline graph::edge_list edges_of(std::uint64_t vertices,
                                 std::vector<std::pair<std::uint32_t, std::uint32_t>> const& arcs,
                                 bool directed = false) {
  graph::edge_list g;
  g.vertices = vertices;
  g.directed = directed;
  for (auto const& [from, to] : arcs) {
    g.from.push_back(from);
    g.to.push_back(to);
  }
  return g;
}
/// One vertex after the other.
inline graph::edge_list path(std::uint32_t vertices) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 1; v < vertices; ++v) arcs.emplace_back(v - 1, v);
  return edges_of(vertices, arcs);
}
/// All around one: a row of many places.
inline graph::edge_list star(std::uint32_t leaves) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 1; v <= leaves; ++v) arcs.emplace_back(0, v);
  return edges_of(leaves + 1, arcs);
}
inline graph::edge_list complete(std::uint32_t vertices) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  for (std::uint32_t v = 1; v < vertices; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) arcs.emplace_back(u, v);
  }
  return edges_of(vertices, arcs);
}

}  // namespace test
