// SPDX-License-Identifier: Apache-2.0
/// @file
/// Minimum spanning forests by Boruvka's iterations: every component takes its lightest edge to
/// another component. Components that are joined become one. The iterations end when no edges
/// between components are left.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/spanning_forest/arms.cuh"
#include "apps/support/scratch.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace spanning_forest {

/// Counts of an iteration, which explain its time.
struct iteration_facts {
  std::uint32_t components;  ///< components at the beginning
  std::uint32_t candidates;  ///< offered candidates; 0 in the first iteration, in which each vertex
                             ///< searches its arcs
  std::uint32_t set_aside;   ///< heavy candidates that are set aside
};

/// Settings that decide when heavy candidates are set aside.
struct parting {
  std::uint32_t light_for_each = 3;        ///< approximate number of light candidates per component
  std::uint32_t least_to_part = 1u << 18;  ///< fewer candidates are all light
};

/// Finds forests of one graph. Allocates all memory in the constructor.
class forest_finder {
 public:
  /// Constructs a finder. The graph is undirected, has weights and `edges`, and outlives the
  /// finder. Throws limit_error for a graph without weights or `edges` or with 2^32 - 1 arcs or
  /// more, and for an unknown arm, and cuda_error when memory is short.
  forest_finder(graph::csr_view const& graph, std::string const& arm, parting chosen = {},
                std::source_location where = std::source_location::current());

  /// Finds a forest, which is the same in each run and for each arm. Blocks the host, because each
  /// iteration needs the number of components. Throws the error of an arm.
  void find();
  /// Finds a forest, and lets the arm choose its settings for each iteration before it. Components
  /// differ in number and in heat, so the best settings differ, too. Returns a description of the
  /// settings, or an empty text at once if the arm has none. Blocks the host.
  std::string tune();

  /// Returns the number of edges of the forest.
  [[nodiscard]] std::uint32_t size() const { return taken_; }
  /// Returns the numbers of these edges, in device memory.
  [[nodiscard]] std::uint32_t const* edges() const { return forest_.data(); }
  /// Returns a host copy of the numbers.
  [[nodiscard]] std::vector<std::uint32_t> edges_to_host() const;
  [[nodiscard]] std::vector<iteration_facts> const& iterations() const { return iterations_; }

 private:
  /// Arrays of candidates.
  struct candidate_memory {
    warden::buffer<std::uint32_t> from, to, weights, edges;
    explicit candidate_memory(std::size_t n) : from{n}, to{n}, weights{n}, edges{n} {}
    [[nodiscard]] candidate_arrays all() const {
      return {from.data(), to.data(), weights.data(), edges.data()};
    }
  };
  /// Counts that the device hands to the host in an iteration.
  struct counts {
    std::uint32_t taken, components, light, heavy;
  };

  template <class Before>
  void find(Before before_offers);
  [[nodiscard]] offers all_offers() const;
  void first_iteration();
  void offer();
  void join();
  void bring_back();
  void all_light_if_none();
  std::uint32_t light_below(std::uint32_t components, std::uint64_t edges);
  counts read();

  graph::csr_view graph_;
  std::uint32_t vertices_;
  std::uint32_t most_candidates_;
  parting parting_;
  warden::buffer<component> components_;
  warden::buffer<std::uint32_t> sources_;  ///< [arc] vertex where it starts
  warden::buffer<std::uint32_t>
      joined_;  ///< [component] the component that it joins, then the root
  warden::buffer<std::uint32_t> target_;   ///< [vertex] end of its lightest arc
  warden::buffer<std::uint32_t> numbers_;  ///< [component] number of roots before it
  warden::buffer<std::uint32_t> label_;    ///< [component] its number in the next iteration
  warden::buffer<std::uint32_t>
      current_;  ///< [component when heavy candidates were set aside] its current number
  warden::buffer<std::uint32_t> forest_;
  warden::buffer<std::uint32_t> hubs_;    ///< vertices with many arcs
  warden::buffer<std::uint32_t> sample_;  ///< sampled weights
  warden::buffer<std::uint32_t> counts_;
  candidate_memory light_, next_, heavy_;
  apps::scratch scratch_;
  std::unique_ptr<arm> arm_;

  std::uint32_t size_ = 0;   ///< components
  std::uint32_t taken_ = 0;  ///< edges of the forest
  std::uint32_t n_light_ = 0, n_heavy_ = 0;
  std::uint32_t size_when_set_aside_ = 0;  ///< components when heavy candidates were set aside
  std::vector<iteration_facts> iterations_;
};

}  // namespace spanning_forest
