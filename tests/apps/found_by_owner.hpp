// SPDX-License-Identifier: Apache-2.0
// Searches by owner on ranks of one process, and their errors.
#pragma once

#include "apps/breadth_first/audit.cuh"
#include "apps/breadth_first/owner_searcher.cuh"
#include "tests/apps/searched.hpp"

#include <warden/communicator.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A graph, for searches by any number of ranks.
class owned_graph {
 public:
  explicit owned_graph(graph::edge_list g, breadth_first::direction_choice const& choice =
                                               breadth_first::owner_direction)
      : directed_{g.directed},
        choice_{choice},
        out_{build_csr(g, {which()})},
        in_{directed_ ? turned(g) : graph::csr{}},
        on_device_{build_csr(to_device(g), {which()})} {}

  [[nodiscard]] graph::csr const& out() const { return out_; }
  [[nodiscard]] graph::csr const& in() const { return directed_ ? in_ : out_; }

  /// Searches by `ranks` ranks, to which vertices are dealt out.
  [[nodiscard]] std::string error_text_from(std::uint32_t source, std::uint32_t ranks,
                                            std::uint64_t seed = 1) {
    return error_text_from(source, breadth_first::deal_by_degree(out(), in(), ranks), seed);
  }
  /// Returns the fault of a search from there; empty if there is none.
  [[nodiscard]] std::string error_text_from(std::uint32_t source,
                                            breadth_first::partition const& parts,
                                            std::uint64_t seed = 1) {
    breadth_first::owner_answer answer{out_.vertices()};
    std::vector<breadth_first::owner_facts> all(parts.ranks);
    warden::loopback_settings chosen;
    chosen.ranks = static_cast<int>(parts.ranks);
    chosen.seed = seed;
    for (auto const& thrown : run_ranks(chosen, [&](warden::communicator const& world) {
           breadth_first::owner_searcher finder{world, parts, out(), in(), choice_};
           // Uses the same memory again.
           finder.find(0);
           finder.find(source);
           finder.write_to(answer);
           all[static_cast<std::size_t>(world.rank())] = finder.facts();
         })) {
      if (thrown) std::rethrow_exception(thrown);
    }
    facts = all[0];
    parents = answer.parents;
    for (auto const& one : all) {
      if (one.levels != facts.levels || one.bottom_up != facts.bottom_up ||
          one.steps != facts.steps)
        return "ranks disagree on what they did";
    }
    return error_text_about(answer, facts, source);
  }

  /// Returns the fault of an answer; empty if there is none.
  [[nodiscard]] std::string error_text_about(breadth_first::owner_answer const& answer,
                                             breadth_first::owner_facts const& did,
                                             std::uint32_t source) const {
    if (answer.levels != breadth_first::levels_from(out_, source))
      return "levels are not those of the reference";
    warden::buffer<std::uint32_t> const levels{answer.levels}, parents{answer.parents};
    auto const found =
        breadth_first::audit(on_device_.view(), source, levels.data(), parents.data());
    if (std::string const wrong = breadth_first::error_text(found); !wrong.empty()) return wrong;
    if (did.levels != found.depth + 1)
      return std::to_string(did.levels) + " levels were counted, not " +
             std::to_string(found.depth + 1);
    return {};
  }

  breadth_first::owner_facts facts;    ///< facts of the last search
  std::vector<std::uint32_t> parents;  ///< that the last search found

 private:
  [[nodiscard]] graph::arcs_of which() const {
    return directed_ ? graph::arcs_of::directed : graph::arcs_of::undirected;
  }
  static graph::csr turned(graph::edge_list g) {
    std::swap(g.from, g.to);
    return build_csr(g, {graph::arcs_of::directed});
  }

  bool directed_;
  breadth_first::direction_choice choice_;
  graph::csr out_, in_;
  graph::device_csr on_device_;
};

}  // namespace test
