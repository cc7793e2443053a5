// SPDX-License-Identifier: Apache-2.0
/// @file
/// The edges among which an iteration looks for each component's lightest.
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

/// Key that orders candidates: by weight, and among equal ones by number. So no two are equal, and
/// components that choose each other in a cycle are two.
WARDEN_HOST_DEVICE std::uint64_t key_of(std::uint32_t weight, std::uint32_t number) {
  return std::uint64_t{weight} << 32 | number;
}
/// The number in a key.
WARDEN_HOST_DEVICE std::uint32_t number_in(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}
/// Above all keys: no candidate. A number is below 2^32 - 1.
inline constexpr std::uint64_t no_key = ~std::uint64_t{0};

/// The record: the lightest edge of a component.
struct component {
  std::uint64_t lightest;  ///< key of its lightest candidate so far, or no_key
};

/// The critical section: a component hears of a candidate of its own.
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

/// An iteration's question: each of `n` candidates is offered to both of its components, all of
/// which are below `size`.
struct offers {
  candidate_arrays candidates;
  std::uint32_t n;
  component* components;
  std::uint32_t size;
};

}  // namespace spanning_forest
