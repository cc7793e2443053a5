// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step of stochastic gradient descent, by some lanes of a warp that hold a row of each side in
/// registers.
#pragma once

#include "apps/matrix_factorization/schedule.hpp"

#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

namespace factorization {

namespace simt = warden::simt;

/// A lane's share of a row of `Rank` elements.
template <unsigned Rank>
struct alignas(Rank <= 32 ? 4 : Rank / 8) row_share {
  static constexpr unsigned lanes =
      Rank < 32 ? Rank : 32;  ///< number of lanes that hold a row together
  static constexpr unsigned size = Rank / lanes;
  float x[size];
};
/// Returns the address of the share of lane `lane` in row `row`.
template <unsigned Rank>
WARDEN_DEVICE row_share<Rank>* share_of(float* rows, std::uint32_t row, unsigned lane) {
  return reinterpret_cast<row_share<Rank>*>(rows + std::size_t{row} * Rank) + lane;
}
/// The lanes that make a step together.
template <unsigned Rank>
using row_lanes = warden::lane_group<row_share<Rank>::lanes>;

/// Returns the lane's part of the product of two rows.
template <unsigned Rank>
WARDEN_DEVICE float partial_product(row_share<Rank> const& a, row_share<Rank> const& b) {
  float sum = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < row_share<Rank>::size; ++k) sum += a.x[k] * b.x[k];
  return sum;
}
/// Adds to each of `sums` the sum of the lane at this distance. Called for all distances, the
/// powers of two below the number of lanes, it gives each lane the sums over all lanes. Collective.
template <unsigned Rank, unsigned N>
WARDEN_DEVICE void add_across(row_lanes<Rank> const& lanes, float (&sums)[N], unsigned distance) {
  WARDEN_UNROLL
  for (unsigned i = 0; i < N; ++i) sums[i] += lanes.shuffle(sums[i], lanes.lane() ^ distance);
}
/// Adds sums over the lanes and distributes them, from the largest distance on. At each distance a
/// lane gives half of its remaining sums, `n` at the first distance, to the other lane and keeps
/// the rest. Collective.
template <unsigned Rank, unsigned N>
WARDEN_DEVICE void share_across(row_lanes<Rank> const& lanes, float (&sums)[N], unsigned& n,
                                unsigned distance) {
  unsigned const half = (n + 1) / 2;
  bool const upper = (lanes.lane() & distance) != 0;
  WARDEN_UNROLL
  for (unsigned i = 0; i < N; ++i) {
    if (i >= half) continue;
    bool const has_other = i + half < n;
    float const kept = has_other && upper ? sums[i + half] : sums[i];
    float const given = has_other && !upper ? sums[i + half] : sums[i];
    sums[i] = kept + lanes.shuffle(given, lanes.lane() ^ distance);
  }
  n = half;
}
/// Returns the lane that has number `i` of `n` sums distributed over `lanes` lanes.
WARDEN_DEVICE constexpr unsigned lane_of_sum(unsigned lanes, unsigned n, unsigned i) {
  unsigned lane = 0;
  for (unsigned distance = lanes / 2; distance != 0; distance /= 2) {
    unsigned const half = (n + 1) / 2;
    if (i >= half) {
      lane += distance;
      i -= half;
    }
    n = half;
  }
  return lane;
}
/// Broadcasts the distributed sums to all lanes. Collective.
template <unsigned Rank, unsigned N>
WARDEN_DEVICE void collect(row_lanes<Rank> const& lanes, float (&sums)[N]) {
  float const own = sums[0];
  WARDEN_UNROLL
  for (unsigned i = 0; i < N; ++i)
    sums[i] = lanes.shuffle(own, lane_of_sum(row_lanes<Rank>::lanes, N, i));
}
/// Returns the number of the pair of users j and i of a batch, j < i.
WARDEN_DEVICE constexpr unsigned number_of_pair(unsigned j, unsigned i) {
  return i * (i - 1) / 2 + j;
}

/// Products of two users' rows of a batch of N users. They are known before the item's row.
template <unsigned N>
struct batch_facts {
  float of[N * (N - 1) / 2];  ///< [number_of_pair]
};

/// Makes a step for each rating: both rows move along the gradient of `(value - user * item)^2 /
/// 2`, with the penalty.
///
/// The steps of a batch, N users and one item, share one wait for sums. A step needs only the moves
/// of the earlier steps: after each of them the item's product with a user u is `keep * (item u) +
/// moved * (the step's user u)`. So a step's move is linear in the earlier moves, and the factors
/// are products of users' rows. `look_ahead` computes them before the item's row arrives.
class descending {
 public:
  /// Largest number of ratings of a batch.
  static constexpr unsigned most = 4;
  template <unsigned N>
  struct sums {
    float of[N];
  };

  WARDEN_HOST_DEVICE descending(step_size const& size) : keep_{1 - size.rate * size.penalty} {
    scales_[0] = size.rate;
    for (unsigned i = 1; i < most; ++i) scales_[i] = scales_[i - 1] * keep_;
  }

  /// Makes the step of one rating. Collective.
  template <unsigned Rank>
  WARDEN_DEVICE void once(row_lanes<Rank> const& lanes, row_share<Rank>& user,
                          row_share<Rank>& item, float value) const {
    float sum[1] = {partial_product(user, item)};
    WARDEN_UNROLL
    for (unsigned d = row_lanes<Rank>::lanes / 2; d != 0; d /= 2) add_across<Rank>(lanes, sum, d);
    move(user, item, scales_[0] * (value - sum[0]), keep_);
  }

  /// Makes the steps of the first `n` users, in order; the rows and values of the others are zero.
  /// Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void together(row_lanes<Rank> const& lanes, row_share<Rank> (&users)[N],
                              row_share<Rank>& item, float const (&values)[N], unsigned n) const {
    sums<N> products;
    batch_facts<N> facts;
    multiply(users, item, products);
    multiply_pairs(users, facts);
    unsigned left = N * (N - 1) / 2;
    WARDEN_UNROLL
    for (unsigned d = row_lanes<Rank>::lanes / 2; d != 0; d /= 2) {
      add_across<Rank>(lanes, products.of, d);
      share_across<Rank>(lanes, facts.of, left, d);
    }
    share_rest<Rank>(lanes, facts, left, 0);
    make_steps(users, item, products.of, values, n, facts);
  }

  /// First part of the steps of a full batch: computes `facts`. Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void look_ahead(row_lanes<Rank> const& lanes, row_share<Rank> const (&users)[N],
                                batch_facts<N>& facts) const {
    multiply_pairs(users, facts);
    share_rest<Rank>(lanes, facts, N * (N - 1) / 2, row_lanes<Rank>::lanes / 2);
  }
  /// Second part: computes the sums that the steps wait for. Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void begin(row_lanes<Rank> const& lanes, row_share<Rank> const (&users)[N],
                           row_share<Rank> const& item, sums<N>& products) const {
    multiply(users, item, products);
    add_across<Rank>(lanes, products.of, row_lanes<Rank>::lanes / 2);
  }
  /// Last part: makes the steps. Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void finish(row_lanes<Rank> const& lanes, sums<N>& products,
                            row_share<Rank> (&users)[N], row_share<Rank>& item,
                            float const (&values)[N], batch_facts<N> const& facts) const {
    WARDEN_UNROLL
    for (unsigned d = row_lanes<Rank>::lanes / 4; d != 0; d /= 2)
      add_across<Rank>(lanes, products.of, d);
    make_steps(users, item, products.of, values, N, facts);
  }
  /// Makes the steps and, interleaved with them, looks ahead to the next batch. Collective.
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void finish(row_lanes<Rank> const& lanes, sums<N>& products,
                            row_share<Rank> (&users)[N], row_share<Rank>& item,
                            float const (&values)[N], batch_facts<N> const& facts,
                            row_share<Rank> const (&next_users)[N],
                            batch_facts<N>& next_facts) const {
    add_across<Rank>(lanes, products.of, row_lanes<Rank>::lanes / 4);
    add_across<Rank>(lanes, products.of, row_lanes<Rank>::lanes / 8);
    multiply_pairs(next_users, next_facts);
    unsigned left = N * (N - 1) / 2, distance = row_lanes<Rank>::lanes / 2;
    WARDEN_UNROLL
    for (unsigned d = row_lanes<Rank>::lanes / 16; d != 0; d /= 2, distance /= 2) {
      share_across<Rank>(lanes, next_facts.of, left, distance);
      add_across<Rank>(lanes, products.of, d);
    }
    make_steps(users, item, products.of, values, N, facts);
    share_rest<Rank>(lanes, next_facts, left, distance);
  }

 private:
  template <unsigned Rank, unsigned N>
  static WARDEN_DEVICE void multiply(row_share<Rank> const (&users)[N], row_share<Rank> const& item,
                                     sums<N>& products) {
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) products.of[i] = partial_product(item, users[i]);
  }
  template <unsigned Rank, unsigned N>
  static WARDEN_DEVICE void multiply_pairs(row_share<Rank> const (&users)[N],
                                           batch_facts<N>& facts) {
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      WARDEN_UNROLL
      for (unsigned j = 0; j < i; ++j)
        facts.of[number_of_pair(j, i)] = partial_product(users[j], users[i]);
    }
  }
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void share_rest(row_lanes<Rank> const& lanes, batch_facts<N>& facts, unsigned left,
                                unsigned distance) const {
    WARDEN_UNROLL
    for (; distance != 0; distance /= 2) share_across<Rank>(lanes, facts.of, left, distance);
    collect<Rank>(lanes, facts.of);
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      WARDEN_UNROLL
      for (unsigned j = 0; j < i; ++j) facts.of[number_of_pair(j, i)] *= scales_[i - 1 - j];
    }
  }
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void make_steps(row_share<Rank> (&users)[N], row_share<Rank>& item,
                                float const (&products)[N], float const (&values)[N], unsigned n,
                                batch_facts<N> const& facts) const {
    static_assert(N <= most);
    float moved[N];
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      moved[i] = scales_[0] * values[i] - scales_[i] * products[i];
      WARDEN_UNROLL
      for (unsigned j = 0; j < i; ++j) moved[i] -= moved[j] * facts.of[number_of_pair(j, i)];
    }
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) move(users[i], item, moved[i], i < n ? keep_ : 1);
  }
  template <unsigned Rank>
  WARDEN_DEVICE void move(row_share<Rank>& user, row_share<Rank>& item, float moved,
                          float keep_item) const {
    WARDEN_UNROLL
    for (unsigned k = 0; k < row_share<Rank>::size; ++k) {
      float const p = user.x[k], q = item.x[k];
      user.x[k] = keep_ * p + moved * q;
      item.x[k] = keep_item * q + moved * p;
    }
  }

  float keep_;          ///< factor by which a step multiplies a row
  float scales_[most];  ///< [steps] the rate times `keep_` to the power of the number of steps
};

/// Steps that reveal lost updates: each adds 1 to every element of both rows.
struct counting {
  template <unsigned N>
  struct sums {};

  template <unsigned Rank>
  WARDEN_DEVICE void once(row_lanes<Rank> const&, row_share<Rank>& user, row_share<Rank>& item,
                          float) const {
    add(user);
    add(item);
  }
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void look_ahead(row_lanes<Rank> const&, row_share<Rank> const (&)[N],
                                batch_facts<N>&) const {}
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void begin(row_lanes<Rank> const&, row_share<Rank> const (&)[N],
                           row_share<Rank> const&, sums<N>&) const {}
  template <unsigned Rank, unsigned N, class... Next>
  WARDEN_DEVICE void finish(row_lanes<Rank> const& lanes, sums<N>&, row_share<Rank> (&users)[N],
                            row_share<Rank>& item, float const (&values)[N], batch_facts<N> const&,
                            Next const&...) const {
    together(lanes, users, item, values, N);
  }
  template <unsigned Rank, unsigned N>
  WARDEN_DEVICE void together(row_lanes<Rank> const&, row_share<Rank> (&users)[N],
                              row_share<Rank>& item, float const (&)[N], unsigned n) const {
    WARDEN_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      if (i >= n) continue;
      add(users[i]);
      add(item);
    }
  }

 private:
  template <unsigned Rank>
  WARDEN_DEVICE static void add(row_share<Rank>& row) {
    WARDEN_UNROLL
    for (unsigned k = 0; k < row_share<Rank>::size; ++k) row.x[k] += 1;
  }
};

}  // namespace factorization
