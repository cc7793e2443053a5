// SPDX-License-Identifier: Apache-2.0
// Boruvka's rounds on one core.

#include "microbench/handover/forest_sections.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace handover {

namespace {

constexpr std::uint32_t none = ~0u;

class rounds {
 public:
  explicit rounds(graph::edge_list const& g)
      : g_{g}, between_(g.edges()), component_(g.vertices), lightest_(g.vertices) {
    std::iota(between_.begin(), between_.end(), 0u);
    std::iota(component_.begin(), component_.end(), 0u);
  }

  /// Finds each component's lightest edge to another one; false if there are none.
  bool look() {
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
  /// Adds the sections of the vertices with an edge to another component. Returns the new number of
  /// records, of which there were `records`.
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
  /// Every component becomes one with the one that its lightest edge leads to.
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
  /// A component is named by a vertex of it that is its own component.
  graph::vertex root(graph::vertex v) {
    while (component_[v] != v) v = component_[v] = component_[component_[v]];
    return v;
  }

  graph::edge_list const& g_;
  std::vector<std::uint32_t> between_;  ///< edges between components
  std::vector<graph::vertex> component_;
  std::vector<std::uint32_t> lightest_;  ///< [component] edge to another one
  std::vector<bool> leaves_;             ///< [vertex] has such an edge
};

}  // namespace

std::vector<std::uint32_t> sections_of_rounds(graph::edge_list const& g) {
  std::vector<std::uint32_t> sections;
  std::uint32_t records = 0;
  rounds r{g};
  for (bool is_first = true; r.look(); is_first = false) {
    if (!is_first) records = r.add_sections(sections, records);
    r.join();
  }
  return sections;
}

}  // namespace handover
