// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins components after each of them has its lightest edge.
#pragma once

#include "apps/spanning_forest/candidates.cuh"

#include <cstdint>

namespace spanning_forest {

/// Arguments of joining.
struct join_arguments {
  component const* components;
  candidate_arrays candidates;
  std::uint32_t const* target;  ///< [vertex] end of its lightest arc
  std::uint32_t* joined;        ///< [component] set to the component that it joins
  std::uint32_t size;
};
/// Joins every vertex to the end of its lightest arc. If two vertices choose each other, they
/// choose the same edge, and only one of them joins. Enqueued, as all functions here.
void join_by_arcs_async(join_arguments const& a);

/// Joins every component to the other component of its lightest candidate. If two components choose
/// each other, only one of them joins.
void join_by_candidates_async(join_arguments const& a);

/// Arguments of settling.
struct settle_arguments {
  std::uint32_t* joined;
  std::uint32_t size;
};
/// Sets `joined` of each component to the root of its joined components.
void settle_async(settle_arguments const& a);

/// Arguments of labelling.
struct label_arguments {
  std::uint32_t const* joined;
  std::uint32_t const* numbers;
  std::uint32_t* label;
  std::uint32_t size;
  std::uint32_t* components;  ///< set to the number of roots
};
/// Sets `label` of each component to the number of its root in the next iteration.
void label_async(label_arguments const& a);

/// Arguments of renaming.
struct rename_arguments {
  std::uint32_t const* label;
  std::uint32_t* now;
  std::uint32_t size;
  bool first;  ///< true if `now` is not set yet; then now[c] is c
};
/// Maps components of an earlier iteration to their numbers in the next iteration.
void rename_async(rename_arguments const& a);

/// Number of weights of a sample.
inline constexpr std::uint32_t sampled = 1024;
/// Arguments of sampling.
struct sample_arguments {
  std::uint32_t const* weights;
  std::uint64_t n;
  std::uint32_t* sample;
};
/// Copies evenly spaced weights of an array to a sample.
void sample_async(sample_arguments const& a);

}  // namespace spanning_forest
