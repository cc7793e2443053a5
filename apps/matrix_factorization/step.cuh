// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step of stochastic gradient descent, by some lanes of a warp that hold a row of each side in
/// registers.
#pragma once

#include "apps/matrix_factorization/schedule.hpp"

#include <warden/lane_group.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace factorization {

namespace simt = warden::simt;

/// A lane's share of a row of `Rank` elements.
template <unsigned Rank>
struct alignas(Rank <= 32 ? 4 : Rank / 8) row_share {
  static constexpr unsigned lanes = Rank < 32 ? Rank : 32;  ///< that hold a row together
  static constexpr unsigned size = Rank / lanes;
  float x[size];
};
/// The share of lane `lane` in row `row` of such rows.
template <unsigned Rank>
WARDEN_DEVICE row_share<Rank>* share_of(float* rows, std::uint32_t row, unsigned lane) {
  return reinterpret_cast<row_share<Rank>*>(rows + std::size_t{row} * Rank) + lane;
}
/// The lanes that make a step together.
template <unsigned Rank>
using row_lanes = warden::lane_group<row_share<Rank>::lanes>;

/// The part of a product of two rows that a lane has.
template <unsigned Rank>
WARDEN_DEVICE float partial_product(row_share<Rank> const& a, row_share<Rank> const& b) {
  float sum = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < row_share<Rank>::size; ++k) sum += a.x[k] * b.x[k];
  return sum;
}
/// The product of two rows, in all lanes. Collective.
template <unsigned Rank>
WARDEN_DEVICE float product(row_lanes<Rank> const& lanes, row_share<Rank> const& a,
                            row_share<Rank> const& b) {
  return lanes.reduce(partial_product(a, b), [](float x, float y) { return x + y; });
}

/// A step for each rating: both rows move along the gradient of `(value - user * item)^2 / 2`, with
/// the penalty.
struct descending {
  step_size size;

  /// Collective.
  template <unsigned Rank>
  WARDEN_DEVICE void once(row_lanes<Rank> const& lanes, row_share<Rank>& user,
                          row_share<Rank>& item, float value) const {
    move(user, item, value - product(lanes, user, item));
  }
  /// Two steps on one item, as `once` makes them one after the other, in the time of one: all that
  /// the second one needs of the first is how far that moved, as the product of the item's row
  /// behind it with the second user's is `keep * (q p2) + moved * (p1 p2)`. Collective.
  template <unsigned Rank>
  WARDEN_DEVICE void twice(row_lanes<Rank> const& lanes, row_share<Rank>& first,
                           row_share<Rank>& second, row_share<Rank>& item, float first_value,
                           float second_value) const {
    float a = partial_product(item, first), b = partial_product(item, second),
          c = partial_product(first, second);
    WARDEN_UNROLL
    for (unsigned distance = row_share<Rank>::lanes / 2; distance != 0; distance /= 2) {
      unsigned const other = lanes.lane() ^ distance;
      a += lanes.shuffle(a, other);
      b += lanes.shuffle(b, other);
      c += lanes.shuffle(c, other);
    }
    float const first_error = first_value - a;
    float const second_error = second_value - (keep() * b + size.rate * first_error * c);
    move(first, item, first_error);
    move(second, item, second_error);
  }

 private:
  WARDEN_DEVICE float keep() const { return 1 - size.rate * size.penalty; }
  template <unsigned Rank>
  WARDEN_DEVICE void move(row_share<Rank>& user, row_share<Rank>& item, float error) const {
    float const moved = size.rate * error;
    WARDEN_UNROLL
    for (unsigned k = 0; k < row_share<Rank>::size; ++k) {
      float const p = user.x[k], q = item.x[k];
      user.x[k] = keep() * p + moved * q;
      item.x[k] = keep() * q + moved * p;
    }
  }
};

/// What shows that no step is lost: each adds 1 to every element of both rows.
struct counting {
  template <unsigned Rank>
  WARDEN_DEVICE void once(row_lanes<Rank> const&, row_share<Rank>& user, row_share<Rank>& item,
                          float) const {
    add(user);
    add(item);
  }
  template <unsigned Rank>
  WARDEN_DEVICE void twice(row_lanes<Rank> const& lanes, row_share<Rank>& first,
                           row_share<Rank>& second, row_share<Rank>& item, float, float) const {
    once(lanes, first, item, 0);
    once(lanes, second, item, 0);
  }

 private:
  template <unsigned Rank>
  WARDEN_DEVICE static void add(row_share<Rank>& row) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < row_share<Rank>::size; ++k) row.x[k] += 1;
  }
};

}  // namespace factorization
