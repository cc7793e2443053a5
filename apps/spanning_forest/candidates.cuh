// SPDX-License-Identifier: Apache-2.0
/// @file
/// Candidates: the edges from which an iteration chooses the lightest edge of each component.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace spanning_forest {

namespace simt = warden::simt;

/// An edge between two components.
struct candidate {
  std::uint32_t from, to;  ///< components
  std::uint32_t weight;
  std::uint32_t edge;  ///< number of an edge of the graph
};

/// Candidates in device memory, an array for each member.
struct candidate_arrays {
  std::uint32_t* from;
  std::uint32_t* to;
  std::uint32_t* weights;
  std::uint32_t* edges;

  WARDEN_HOST_DEVICE candidate at(std::int64_t i) const {
    return {from[i], to[i], weights[i], edges[i]};
  }
  WARDEN_HOST_DEVICE void put(std::int64_t i, candidate const& c) const {
    from[i] = c.from;
    to[i] = c.to;
    weights[i] = c.weight;
    edges[i] = c.edge;
  }
};

/// Returns the key that orders candidates by weight, then by number. So no two keys are equal, and
/// components that choose each other in a cycle are exactly two.
WARDEN_HOST_DEVICE std::uint64_t key_of(std::uint32_t weight, std::uint32_t number) {
  return std::uint64_t{weight} << 32 | number;
}
/// Returns the number in a key.
WARDEN_HOST_DEVICE std::uint32_t number_in(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}
/// Key of no candidate, above all other keys because numbers are below 2^32 - 1.
inline constexpr std::uint64_t no_key = ~std::uint64_t{0};

/// Record: the lightest known candidate of a component.
struct component {
  std::uint64_t lightest;  ///< key of its lightest candidate so far, or no_key
};

/// Critical section: offers a candidate to one of its components.
struct offer {
  std::uint64_t key;
  static constexpr bool reads_other_memory = false;

  WARDEN_DEVICE void operator()(component& c) const {
    if (key < c.lightest) c.lightest = key;
  }
  /// The section as one atomic.
  template <class Context>
  WARDEN_DEVICE void atomic(component* c, Context) const {
    simt::fetch_min(&c->lightest, key);
  }
  WARDEN_DEVICE static offer combine(offer a, offer b) { return a.key < b.key ? a : b; }
};
/// An offer that a log runs by itself.
struct single_offer : offer {
  static constexpr bool combines = false;
};

/// Offers of an iteration: each of `n` candidates to both of its components, whose numbers are
/// below `size`.
struct offers {
  candidate_arrays candidates;
  std::uint32_t n;
  component* components;
  std::uint32_t size;
};

}  // namespace spanning_forest
