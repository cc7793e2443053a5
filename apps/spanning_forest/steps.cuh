// SPDX-License-Identifier: Apache-2.0
/// @file
/// Functors of the device-wide algorithms of an iteration, called for each element.
#pragma once

#include "apps/graph/device_csr.cuh"
#include "apps/spanning_forest/candidates.cuh"

#include <cstdint>

namespace spanning_forest {

/// Returns 1 for a component of the next iteration: a root. If no candidates are set aside, a root
/// without candidates is finished.
struct goes_on {
  std::uint32_t const* joined;
  component const* components;
  std::uint32_t size;
  bool others_wait;
  __host__ __device__ std::uint32_t operator()(std::int64_t c) const {
    return c < size && joined[c] == c && (others_wait || components[c].lightest != no_key) ? 1 : 0;
  }
};
/// Number of the candidate by which a component joined another.
struct taken {
  std::uint32_t number;
  bool joined;
};
struct take {
  std::uint32_t const* joined;
  component const* components;
  __host__ __device__ taken operator()(std::int64_t c) const {
    return {number_in(components[c].lightest), joined[c] != c};
  }
};
struct is_taken {
  __host__ __device__ bool operator()(taken const& t) const { return t.joined; }
};
struct put_edge {
  std::uint32_t* forest;
  std::uint32_t const* edges;  ///< [number]
  __host__ __device__ void operator()(std::int64_t j, taken const& t) const {
    forest[j] = edges[t.number];
  }
};
/// Returns an arc as a candidate; for one of the two arcs of an edge only.
struct candidate_of_arc {
  graph::csr_view graph;
  std::uint32_t const* sources;
  std::uint32_t const* label;
  __host__ __device__ candidate operator()(std::int64_t i) const {
    std::uint32_t const from = sources[i], to = graph.neighbours[i];
    if (from >= to) return {0, 0, 0, 0};
    return {label[from], label[to], graph.weights[i], graph.edges[i]};
  }
};
/// Returns a candidate of the iteration before with the components of this iteration.
struct next_candidate {
  candidate_arrays before;
  std::uint32_t const* label;
  __host__ __device__ candidate operator()(std::int64_t i) const {
    candidate c = before.at(i);
    return {label[c.from], label[c.to], c.weight, c.edge};
  }
};
struct is_between {
  __host__ __device__ bool operator()(candidate const& c) const { return c.from != c.to; }
};
struct is_light {
  std::uint32_t most;
  __host__ __device__ bool operator()(candidate const& c) const {
    return c.from != c.to && c.weight <= most;
  }
};
struct put_candidate {
  candidate_arrays to;
  __host__ __device__ void operator()(std::int64_t j, candidate const& c) const { to.put(j, c); }
};

}  // namespace spanning_forest
