// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins components in each iteration, once each of them has its lightest edge.
#pragma once

#include "apps/spanning_forest/candidates.cuh"

#include <cstdint>

namespace spanning_forest {

/// Arguments of joining.
struct join_arguments {
  component const* components;
  candidate_arrays candidates;
  std::uint32_t const* target;  ///< for each vertex: the vertex that its lightest arc leads to
  std::uint32_t* joined;        ///< becomes the component that it joins
  std::uint32_t size;
};
/// Every vertex joins the one at the end of its lightest arc, except for one of two that choose
/// each other by the same edge. Enqueued, like all functions here.
void join_by_arcs_async(join_arguments const& a);

/// Every component joins the one at the other end of its lightest candidate, except for one of two
/// that choose each other.
void join_by_candidates_async(join_arguments const& a);

/// The components that components have joined.
struct settle_arguments {
  std::uint32_t* joined;
  std::uint32_t size;
};
/// `joined` of each component becomes the root of all that are joined.
void settle_async(settle_arguments const& a);

/// Where numbers come from, and where they go.
struct label_arguments {
  std::uint32_t const* joined;
  std::uint32_t const* numbers;
  std::uint32_t* label;
  std::uint32_t size;
  std::uint32_t* components;  ///< becomes their number
};
/// `label` becomes each component's number in the next iteration, by what its root's is.
void label_async(label_arguments const& a);

/// Names that go on.
struct rename_arguments {
  std::uint32_t const* label;
  std::uint32_t* now;
  std::uint32_t size;
  bool first;  ///< `now` is as if now[c] = c
};
/// Components of an earlier iteration go on under the names of the next one.
void rename_async(rename_arguments const& a);

/// Weights of a sample.
inline constexpr std::uint32_t sampled = 1024;
/// Arguments of sampling.
struct sample_arguments {
  std::uint32_t const* weights;
  std::uint64_t n;
  std::uint32_t* sample;
};
/// Weights from all over an array.
void sample_async(sample_arguments const& a);

}  // namespace spanning_forest
