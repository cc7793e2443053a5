// SPDX-License-Identifier: Apache-2.0
/// @file
/// Network of a graph, copied to the device.
#pragma once

#include "apps/graph/csr.hpp"
#include "apps/graph/edge_list.hpp"
#include "apps/max_flow/network.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <stdexcept>

namespace max_flow {

/// Rows of a network on the host and the device.
class device_network {
 public:
  /// Constructs the rows of a directed graph, whose weights are capacities. Throws
  /// std::invalid_argument for too many edges or edges without weights, and cuda_error when memory
  /// is short.
  explicit device_network(graph::edge_list const& g)
      : rows_{graph::build_csr(with_capacities(g),
                               {.arcs = graph::arcs_of::flow, .edges = true, .reverse = true})},
        offsets_{rows_.offsets},
        neighbours_{rows_.neighbours},
        capacities_{rows_.weights},
        reverse_{rows_.reverse} {}

  /// Returns the network with a source and a sink.
  [[nodiscard]] network between(graph::terminals const& ends) const {
    return {offsets_.data(),
            neighbours_.data(),
            capacities_.data(),
            reverse_.data(),
            static_cast<std::uint32_t>(rows_.vertices()),
            rows_.arcs(),
            ends.source,
            ends.sink};
  }
  [[nodiscard]] graph::csr const& rows() const { return rows_; }

 private:
  static graph::edge_list const& with_capacities(graph::edge_list const& g) {
    if (g.edges() != 0 && !g.is_weighted())
      throw std::invalid_argument{"the graph has no weights to be capacities"};
    return g;
  }

  graph::csr rows_;
  warden::buffer<std::uint64_t> offsets_;
  warden::buffer<std::uint32_t> neighbours_, capacities_, reverse_;
};

}  // namespace max_flow
