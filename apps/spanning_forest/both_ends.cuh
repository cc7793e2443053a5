// SPDX-License-Identifier: Apache-2.0
/// @file
/// An iteration as work for the baselines: operation i < n offers candidate i to its component
/// `from`, operation n + i to its component `to`.
#pragma once

#include "apps/spanning_forest/candidates.cuh"

#include <warden/baseline.cuh>
#include <warden/section.cuh>

#include <cstdint>

namespace spanning_forest {

/// Component of an operation.
struct end_of_candidate {
  std::uint32_t const* from;
  std::uint32_t const* to;
  std::uint32_t n;

  WARDEN_DEVICE std::uint32_t operator[](std::uint32_t i) const {
    return i < n ? from[i] : to[i - n];
  }
};
/// Makes the section of an operation: an offer of the edge.
template <class Offer>
struct make_offer {
  std::uint32_t const* weights;
  std::uint32_t n;

  WARDEN_DEVICE Offer operator()(std::uint32_t i) const {
    std::uint32_t const number = i < n ? i : i - n;
    return {key_of(weights[number], number)};
  }
};
template <class Offer>
using offer_work =
    warden::baseline::work<component, make_offer<Offer>, warden::no_context, end_of_candidate>;

/// All offers of an iteration, of less than 2^31 candidates.
template <class Offer>
offer_work<Offer> work_of(offers const& all) {
  auto const& c = all.candidates;
  return {all.components, {c.from, c.to, all.n}, 2 * all.n, {c.weights, all.n}, {}};
}

}  // namespace spanning_forest
