// SPDX-License-Identifier: Apache-2.0
// The mean of ratings, and their division in two.

#include "apps/matrix_factorization/ratings.hpp"

#include <numeric>
#include <random>

namespace factorization {

double mean_of(rating_list const& list) {
  double sum = 0;
  for (float const v : list.value) sum += v;
  return list.size() == 0 ? 0 : sum / static_cast<double>(list.size());
}

split_ratings split(rating_list all, double share, std::uint64_t seed) {
  std::mt19937_64 drawn{seed};
  std::bernoulli_distribution puts_aside{share};
  split_ratings parts;
  parts.test.users = all.users;
  parts.test.items = all.items;
  // Compact in place, because most ratings stay and a second copy would be large.
  std::size_t kept = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (puts_aside(drawn)) {
      parts.test.add(all.user[k], all.item[k], all.value[k]);
      continue;
    }
    all.user[kept] = all.user[k];
    all.item[kept] = all.item[k];
    all.value[kept] = all.value[k];
    ++kept;
  }
  all.user.resize(kept);
  all.item.resize(kept);
  all.value.resize(kept);
  parts.train = std::move(all);
  return parts;
}

std::vector<plain_rating> scattered(rating_list const& list, float offset) {
  std::size_t const n = list.size();
  auto step = static_cast<std::size_t>(0.6180339887 * static_cast<double>(n)) + 1;
  while (std::gcd(step, n) != 1) ++step;
  std::vector<plain_rating> all(n);
  for (std::size_t k = 0, at = 0; k < n; ++k, at = (at + step) % n)
    all[at] = {list.user[k], list.item[k], list.value[k] - offset};
  return all;
}

}  // namespace factorization
