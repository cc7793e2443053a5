// SPDX-License-Identifier: Apache-2.0
// Popularities, activities, and the ratings of users.

#include "apps/matrix_factorization/planted.hpp"

#include "apps/support/parallel.hpp"

#include <algorithm>
#include <array>

#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>

namespace factorization {

namespace {

/// Purposes of the random numbers of one seed; each has numbers of its own.
enum class purpose : std::uint32_t { activities, user_rows, item_rows, users, items, ratings };

std::mt19937_64 numbers_for(std::uint64_t seed, purpose of, std::uint32_t which = 0) {
  std::seed_seq all{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                    static_cast<std::uint32_t>(of), which};
  return std::mt19937_64{all};
}
/// Returns the numbers below `n` in random order.
std::vector<std::uint32_t> shuffled(std::uint32_t n, std::mt19937_64 drawn) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), drawn);
  return order;
}

void check(planted_shape const& s) {
  auto const refuse = [](std::string const& what) {
    throw std::runtime_error{"planted ratings: " + what};
  };
  if (s.items == 0 || s.users == 0) refuse("there is a user and an item at least");
  if (s.hottest_item == 0 || s.hottest_item > s.users) {
    refuse("the hottest item has " + std::to_string(s.hottest_item) + " ratings; of " +
           std::to_string(s.users) + " users there are 1 to as many");
  }
  if (s.ratings < s.hottest_item + std::uint64_t{s.items} - 1 ||
      s.ratings > std::uint64_t{s.hottest_item} * s.items) {
    refuse(std::to_string(s.ratings) + " ratings of " + std::to_string(s.items) +
           " items of which the hottest has " + std::to_string(s.hottest_item));
  }
}

/// Returns the number of ratings of each item, by rank.
std::vector<std::uint32_t> popularities(planted_shape const& s) {
  auto const at = [&](double scale, std::uint32_t k) {
    double const part = 1 + k / scale;
    return std::max(1., s.hottest_item / (part * part));
  };
  auto const sum = [&](double scale) {
    double all = 0;
    for (std::uint32_t k = 0; k < s.items; ++k) all += at(scale, k);
    return all;
  };
  double low = 1e-9, high = 1;
  while (sum(high) < static_cast<double>(s.ratings) && high < 1e18) high *= 2;
  for (unsigned step = 0; step < 100; ++step) {
    double const middle = (low + high) / 2;
    (sum(middle) < static_cast<double>(s.ratings) ? low : high) = middle;
  }
  std::vector<std::uint32_t> counts(s.items);
  std::uint64_t all = 0;
  for (std::uint32_t k = 0; k < s.items; ++k) {
    counts[k] = std::min(s.hottest_item, static_cast<std::uint32_t>(at(low, k)));
    all += counts[k];
  }
  // Distribute the ratings that rounding left, one per item in turn, to items that do not exceed
  // the hottest.
  for (std::uint32_t k = 1; all < s.ratings; k = k + 1 < s.items ? k + 1 : 1) {
    if (counts[k] >= s.hottest_item) continue;
    ++counts[k];
    ++all;
  }
  return counts;
}

/// Activities of users in descending order, and their prefix sums.
struct activities {
  std::vector<double> of, before;
};
activities draw_activities(std::uint32_t users, std::uint64_t seed) {
  constexpr double deviation = 1.25;  // standard deviation of the logarithm
  std::mt19937_64 drawn = numbers_for(seed, purpose::activities);
  std::lognormal_distribution<double> activity{0, deviation};
  activities a{std::vector<double>(users), std::vector<double>(users + std::size_t{1})};
  for (double& one : a.of) one = activity(drawn);
  std::sort(a.of.begin(), a.of.end(), std::greater<>{});
  std::partial_sum(a.of.begin(), a.of.end(), a.before.begin() + 1);
  return a;
}

/// Returns rows of the planted factors.
std::vector<float> planted_rows(std::uint32_t rows, std::uint64_t seed, purpose of) {
  std::mt19937_64 drawn = numbers_for(seed, of);
  // The sum of `planted_rank` products has a standard deviation of 0.9.
  std::normal_distribution<float> element{0, std::sqrt(0.9f / std::sqrt(float{planted_rank}))};
  std::vector<float> all(std::size_t{rows} * planted_rank);
  for (float& one : all) one = element(drawn);
  return all;
}

class generator {
 public:
  generator(planted_shape const& shape, std::uint64_t seed)
      : seed_{seed},
        counts_{popularities(shape)},
        begins_(shape.items + std::size_t{1}),
        activities_{draw_activities(shape.users, seed)},
        user_rows_{planted_rows(shape.users, seed, purpose::user_rows)},
        item_rows_{planted_rows(shape.items, seed, purpose::item_rows)},
        user_order_{shuffled(shape.users, numbers_for(seed, purpose::users))},
        item_order_{shuffled(shape.items, numbers_for(seed, purpose::items))} {
    std::partial_sum(counts_.begin(), counts_.end(), begins_.begin() + 1,
                     [](std::uint64_t a, std::uint64_t b) { return a + b; });
    list_.users = shape.users;
    list_.items = shape.items;
    list_.user.resize(shape.ratings);
    list_.item.resize(shape.ratings);
    list_.value.resize(shape.ratings);
  }
  rating_list run() {
    apps::for_each_in_parallel(
        counts_.size(), [&](std::size_t rank) { make_item(static_cast<std::uint32_t>(rank)); });
    return std::move(list_);
  }

 private:
  /// Makes the ratings of the item of this rank.
  void make_item(std::uint32_t rank) {
    std::uint32_t const n = counts_[rank];
    auto const& [of, before] = activities_;
    auto const users = static_cast<std::uint32_t>(of.size());
    std::uint32_t const item = item_order_[rank];
    std::mt19937_64 drawn = numbers_for(seed_, purpose::ratings, rank);
    std::normal_distribution<float> noise{0, planted_noise};
    // The most active `all` users rate the item with certainty. Each other user rates it with a
    // probability in proportion to its activity, which must be below 1 for the next user.
    std::uint32_t all = 0, limit = n;
    while (all < limit) {
      std::uint32_t const middle = all + (limit - all) / 2;
      if (of[middle] * (n - middle) >= before[users] - before[middle]) {
        all = middle + 1;
      } else {
        limit = middle;
      }
    }
    double const rest = before[users] - before[all];
    double const distance = n > all ? rest / (n - all) : 0;
    double const first = std::uniform_real_distribution<double>{}(drawn);
    std::uint32_t last = all;
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint32_t user = k;
      if (k >= all) {
        double const point = before[all] + (k - all + first) * distance;
        auto const from = before.begin() + last + 1;
        user = static_cast<std::uint32_t>(std::upper_bound(from, before.begin() + users, point) -
                                          before.begin()) -
               1;
        last = user + 1 < users ? user + 1 : user;  // rounding must not repeat a user
      }
      put(begins_[rank] + k, user_order_[user], item, noise(drawn));
    }
  }
  void put(std::uint64_t at, std::uint32_t user, std::uint32_t item, float noise) {
    float const* const p = &user_rows_[std::size_t{user} * planted_rank];
    float const* const q = &item_rows_[std::size_t{item} * planted_rank];
    float const liking = std::inner_product(p, p + planted_rank, q, 3.5f + noise);
    list_.user[at] = user;
    list_.item[at] = item;
    list_.value[at] = std::clamp(std::round(2 * liking) / 2, 0.5f, 5.f);
  }

  std::uint64_t seed_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> begins_;
  activities activities_;
  std::vector<float> user_rows_, item_rows_;
  std::vector<std::uint32_t> user_order_, item_order_;
  rating_list list_;
};

struct named_shape {
  char const* name;
  planted_shape shape;
};
constexpr std::array<named_shape, 2> shapes{{{"movielens-10m", {71567, 10681, 10000054, 34864}},
                                             {"netflix", {480189, 17770, 99072112, 232944}}}};

}  // namespace

std::vector<std::string> const& planted_names() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all;
    for (named_shape const& s : shapes) all.emplace_back(s.name);
    return all;
  }();
  return names;
}

planted_shape planted_named(std::string const& name) {
  for (named_shape const& s : shapes)
    if (name == s.name) return s.shape;
  throw std::runtime_error{"planted ratings: no shape \"" + name + "\""};
}

rating_list planted_ratings(planted_shape const& shape, std::uint64_t seed) {
  check(shape);
  return generator{shape, seed}.run();
}

}  // namespace factorization
