// SPDX-License-Identifier: Apache-2.0
/// @file
/// Prefix sums over the lanes of a warp.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the sum of an unsigned integer over the lanes before this one. Collective over the warp.
template <class T>
WARDEN_DEVICE T warp_sum_before(T value) {
  T sum = value;
  WARDEN_UNROLL
  for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
    unsigned const from = simt::lane_id() < distance ? 0 : simt::lane_id() - distance;
    T const before = simt::shuffle(simt::full_warp, sum, from);
    if (simt::lane_id() >= distance) sum += before;
  }
  return sum - value;
}

}  // namespace detail
WARDEN_NAMESPACE_END
