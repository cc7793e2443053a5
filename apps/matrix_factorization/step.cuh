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
/// Adds up each of `sums` over the lanes, side by side: in all lanes. Collective.
template <unsigned Rank, unsigned N>
WARDEN_DEVICE void add_up(row_lanes<Rank> const& lanes, float (&sums)[N]) {
  WARDEN_UNROLL
  for (unsigned distance = row_lanes<Rank>::lanes / 2; distance != 0; distance /= 2) {
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) sums[i] += lanes.shuffle(sums[i], lanes.lane() ^ distance);
  }
}

/// A step for each rating: both rows move along the gradient of `(value - user * item)^2 / 2`, with
/// the penalty.
struct descending {
  step_size size;

  /// Collective.
  template <unsigned Rank>
  WARDEN_DEVICE void once(row_lanes<Rank> const& lanes, row_share<Rank>& user,
                          row_share<Rank>& item, float value) const {
    float sums[1] = {partial_product(user, item)};
    add_up<Rank>(lanes, sums);
    move(user, item, value - sums[0]);
  }
  /// Steps of N users on one item, as `once` makes them one after another, but with one wait for
  /// sums: all that a step needs of those before is how far they moved, as behind each of them the
  /// item's product with a user u is `keep * (item u) + moved * (the step's user u)`. Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void together(row_lanes<Rank> const& lanes, row_share<Rank> (&users)[N],
                              row_share<Rank>& item, float const (&values)[N]) const {
    // Of item and user i: at i. Of users j and i, j < i: behind those, at number_of(j, i).
    float sums[N * (N + 1) / 2];
    auto const number_of = [](unsigned j, unsigned i) { return N + i * (i - 1) / 2 + j; };
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      sums[i] = partial_product(item, users[i]);
      WARDEN_UNROLL
      for (unsigned j = 0; j < i; ++j) sums[number_of(j, i)] = partial_product(users[j], users[i]);
    }
    add_up<Rank>(lanes, sums);
    WARDEN_UNROLL
    for (unsigned j = 0; j < N; ++j) {
      float const error = values[j] - sums[j];
      WARDEN_UNROLL
      for (unsigned i = j + 1; i < N; ++i)
        sums[i] = keep() * sums[i] + size.rate * error * sums[number_of(j, i)];
      move(users[j], item, error);
    }
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
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void together(row_lanes<Rank> const& lanes, row_share<Rank> (&users)[N],
                              row_share<Rank>& item, float const (&)[N]) const {
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) once(lanes, users[i], item, 0);
  }

 private:
  template <unsigned Rank>
  WARDEN_DEVICE static void add(row_share<Rank>& row) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < row_share<Rank>::size; ++k) row.x[k] += 1;
  }
};

}  // namespace factorization
