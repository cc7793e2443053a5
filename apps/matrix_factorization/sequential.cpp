// SPDX-License-Identifier: Apache-2.0
// Processes one rating after another.

#include "apps/matrix_factorization/sequential.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace factorization {

namespace {

/// Number of partial sums: as many as a vector register holds.
constexpr unsigned sums = 16;

float dot(float const* p, float const* q, unsigned rank) {
  float sum[sums] = {};
  for (unsigned k = 0; k < rank; k += sums)
    for (unsigned j = 0; j < sums; ++j) sum[j] += p[k + j] * q[k + j];
  return std::accumulate(sum, sum + sums, 0.f);
}

}  // namespace

sequential_descent::sequential_descent(rating_list const& list) : list_{list}, order_(list.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
}

sequential_descent::sequential_descent(rating_list const& list, std::uint64_t seed)
    : list_{list}, order_(list.size()) {
  std::mt19937_64 drawn{seed};
  std::vector<std::uint32_t> users(list.users);
  std::iota(users.begin(), users.end(), 0u);
  std::shuffle(users.begin(), users.end(), drawn);
  std::vector<std::uint32_t> any(list.size());
  std::iota(any.begin(), any.end(), 0u);
  std::shuffle(any.begin(), any.end(), drawn);
  // Sort by user, so that users' rows stay in the cache.
  std::vector<std::uint32_t> counts(list.users), next(list.users);
  for (std::uint32_t const u : list.user) ++counts[u];
  std::uint32_t begin = 0;
  for (std::uint32_t const u : users) {
    next[u] = begin;
    begin += counts[u];
  }
  for (std::uint32_t const k : any) order_[next[list.user[k]]++] = k;
}

void sequential_descent::run(model& m, step_size const& size) const {
  refuse_reversal(size);
  float const keep = 1 - size.rate * size.penalty;
  for (std::uint32_t const at : order_) {
    float* const p = m.user_rows.data() + std::size_t{list_.user[at]} * m.rank;
    float* const q = m.item_rows.data() + std::size_t{list_.item[at]} * m.rank;
    float const move = size.rate * (list_.value[at] - m.mean - dot(p, q, m.rank));
    for (unsigned k = 0; k < m.rank; ++k) {
      float const before = p[k];
      p[k] = keep * before + move * q[k];
      q[k] = keep * q[k] + move * before;
    }
  }
}

}  // namespace factorization
