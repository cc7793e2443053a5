// SPDX-License-Identifier: Apache-2.0
// Boruvka's algorithm on one core.

#include "microbench/handover/forest_sections.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace handover {

namespace {

constexpr std::uint32_t none = ~0u;

class boruvka {
 public:
  explicit boruvka(graph::edge_list const& g)
      : g_{g}, between_(g.edges()), component_(g.vertices), lightest_(g.vertices) {
    std::iota(between_.begin(), between_.end(), 0u);
    std::iota(component_.begin(), component_.end(), 0u);
  }

  /// Finds each component's lightest edge to another component. Returns false if no edge leaves a
  /// component.
  bool find_lightest() {
    lightest_.assign(g_.vertices, none);
    leaves_.assign(g_.vertices, false);
    std::size_t kept = 0;
    for (std::uint32_t const e : between_) {
      graph::vertex const a = component_[g_.from[e]], b = component_[g_.to[e]];
      if (a == b) continue;
      between_[kept++] = e;
      leaves_[g_.from[e]] = leaves_[g_.to[e]] = true;
      offer(a, e);
      offer(b, e);
    }
    between_.resize(kept);
    return kept != 0;
  }
  /// Appends a section to `to` for each vertex with an edge to another component. `records` is the
  /// number of records before the call; returns the number after it.
  std::uint32_t add_sections(std::vector<std::uint32_t>& to, std::uint32_t records) const {
    std::vector<std::uint32_t> record(g_.vertices, none);
    for (std::uint64_t v = 0; v < g_.vertices; ++v) {
      if (!leaves_[v]) continue;
      std::uint32_t& r = record[component_[v]];
      if (r == none) r = records++;
      to.push_back(r);
    }
    return records;
  }
  /// Joins every component to the component that its lightest edge leads to.
  void join() {
    for (std::uint64_t c = 0; c < g_.vertices; ++c) {
      if (lightest_[c] == none) continue;
      // Component c may have been joined to others already.
      graph::vertex const a = root(component_[g_.from[lightest_[c]]]);
      graph::vertex const b = root(component_[g_.to[lightest_[c]]]);
      component_[a] = b;
    }
    for (std::uint64_t v = 0; v < g_.vertices; ++v)
      component_[v] = root(static_cast<graph::vertex>(v));
  }

 private:
  void offer(graph::vertex component, std::uint32_t e) {
    std::uint32_t& best = lightest_[component];
    // The lower number wins among equal weights: no two edges are equal, so no cycle forms.
    if (best == none || g_.weights[e] < g_.weights[best] ||
        (g_.weights[e] == g_.weights[best] && e < best))
      best = e;
  }
  /// Returns the component of a vertex. A component has the number of one of its vertices, its
  /// root.
  graph::vertex root(graph::vertex v) {
    while (component_[v] != v) v = component_[v] = component_[component_[v]];
    return v;
  }

  graph::edge_list const& g_;
  std::vector<std::uint32_t> between_;  ///< edges between components
  std::vector<graph::vertex> component_;
  std::vector<std::uint32_t> lightest_;  ///< [component] lightest edge to another component
  std::vector<bool> leaves_;             ///< [vertex] has such an edge
};

}  // namespace

std::vector<std::uint32_t> forest_sections(graph::edge_list const& g) {
  std::vector<std::uint32_t> sections;
  std::uint32_t records = 0;
  boruvka algorithm{g};
  for (bool is_first = true; algorithm.find_lightest(); is_first = false) {
    if (!is_first) records = algorithm.add_sections(sections, records);
    algorithm.join();
  }
  return sections;
}

}  // namespace handover
