// SPDX-License-Identifier: Apache-2.0
// Rows of factors on the host.

#include "apps/matrix_factorization/model.hpp"

#include "apps/support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>

namespace factorization {

float model::predicted(std::uint32_t user, std::uint32_t item) const {
  auto const p = user_rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{user} * rank);
  auto const q = item_rows.begin() + static_cast<std::ptrdiff_t>(std::size_t{item} * rank);
  return std::inner_product(p, p + rank, q, mean);
}

model first_model(rating_list const& list, unsigned rank, std::uint64_t seed) {
  if (std::find(std::begin(ranks), std::end(ranks), rank) == std::end(ranks))
    throw std::runtime_error{"rank " + std::to_string(rank) + "; there are 16, 32, 64 and 128"};
  model m;
  m.rank = rank;
  m.mean = static_cast<float>(mean_of(list));
  m.users = list.users;
  m.items = list.items;
  m.user_names = list.user_names;
  m.item_names = list.item_names;
  float const most = 1 / std::sqrt(static_cast<float>(rank));
  std::mt19937_64 drawn{seed};
  std::uniform_real_distribution<float> element{-most, most};
  for (auto [rows, count] : {std::pair{&m.user_rows, m.users}, std::pair{&m.item_rows, m.items}}) {
    rows->resize(std::size_t{count} * rank);
    for (float& x : *rows) x = element(drawn);
  }
  return m;
}

double rmse_of(model const& m, rating_list const& list) {
  constexpr std::size_t piece = 1 << 16;
  std::size_t const pieces = (list.size() + piece - 1) / piece;
  std::vector<double> sums(pieces);
  apps::for_each_in_parallel(pieces, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = i * piece; k < std::min(list.size(), (i + 1) * piece); ++k) {
      double const error = list.value[k] - m.predicted(list.user[k], list.item[k]);
      sum += error * error;
    }
    sums[i] = sum;
  });
  if (list.size() == 0) return 0;
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.) /
                   static_cast<double>(list.size()));
}

std::vector<std::pair<std::uint32_t, float>> recommended(model const& m, std::uint32_t user,
                                                         std::size_t most,
                                                         std::vector<std::uint32_t> const& but) {
  std::vector<bool> is_out(m.items);
  for (std::uint32_t const item : but) is_out[item] = true;
  std::vector<std::pair<std::uint32_t, float>> all;
  for (std::uint32_t i = 0; i < m.items; ++i)
    if (!is_out[i]) all.emplace_back(i, m.predicted(user, i));
  most = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                    [](auto const& a, auto const& b) {
                      return a.second != b.second ? a.second > b.second : a.first < b.first;
                    });
  all.resize(most);
  return all;
}

}  // namespace factorization
