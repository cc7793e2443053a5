// SPDX-License-Identifier: Apache-2.0
/// @file
/// Minimum spanning forests by Boruvka's iterations: every component takes its lightest edge to
/// another one, and those so joined become one, until no edges between components are left.
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

/// Facts of a search, which explain its time.
struct iteration_facts {
  std::uint32_t components;  ///< at its beginning
  std::uint32_t candidates;  ///< 0 in the first one, in which each vertex looks through its arcs
  std::uint32_t put_aside;   ///< candidates that wait because they are heavy
};

/// When heavy candidates are put aside.
struct parting {
  std::uint32_t light_for_each = 3;        ///< light ones for a component, about
  std::uint32_t least_to_part = 1u << 18;  ///< fewer candidates are all light
};

/// Finds forests of one graph, all of whose memory it has from the beginning.
class forest_finder {
 public:
  /// The graph is undirected, with weights and `edges`, and outlives it. Throws limit_error for a
  /// graph without those or with 2^32 - 1 arcs or more, or an unknown arm, and cuda_error when
  /// memory is short.
  forest_finder(graph::csr_view const& graph, std::string const& arm, parting chosen = {},
                std::source_location where = std::source_location::current());

  /// Finds a forest, the same one each time and by every arm. Blocks the host, which must know the
  /// number of remaining components. Throws errors of the device.
  void find();
  /// Lets the arm choose its settings on the first iteration that it has; blocks the host.
  std::string tune();

  /// Edges of the forest that was found.
  [[nodiscard]] std::uint32_t size() const { return taken_; }
  /// Their numbers, in device memory.
  [[nodiscard]] std::uint32_t const* edges() const { return forest_.data(); }
  /// A copy on the host.
  [[nodiscard]] std::vector<std::uint32_t> edges_to_host() const;
  [[nodiscard]] std::vector<iteration_facts> const& iterations() const { return iterations_; }

 private:
  /// Arrays for candidates.
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
  warden::buffer<std::uint32_t> sources_;  ///< [arc] vertex that it comes from
  warden::buffer<std::uint32_t> joined_;   ///< [component] the one that it joins, then its root
  warden::buffer<std::uint32_t> target_;   ///< [vertex] where its lightest arc goes
  warden::buffer<std::uint32_t> numbers_;  ///< [component] roots below it
  warden::buffer<std::uint32_t> label_;    ///< [component] its number in the next iteration
  warden::buffer<std::uint32_t>
      now_;  ///< [component when heavy ones were put aside] its number now
  warden::buffer<std::uint32_t> forest_;
  warden::buffer<std::uint32_t> hubs_;    ///< vertices of many arcs
  warden::buffer<std::uint32_t> sample_;  ///< weights
  warden::buffer<std::uint32_t> counts_;
  candidate_memory light_, next_, heavy_;
  apps::scratch scratch_;
  std::unique_ptr<arm> arm_;

  std::uint32_t size_ = 0;   ///< components
  std::uint32_t taken_ = 0;  ///< edges
  std::uint32_t n_light_ = 0, n_heavy_ = 0;
  std::uint32_t then_ = 0;  ///< components when heavy ones were put aside
  std::vector<iteration_facts> iterations_;
};

}  // namespace spanning_forest
