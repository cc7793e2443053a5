// SPDX-License-Identifier: Apache-2.0
// Dealing users and items to parts, sorting ratings by tile pairs, and planning each tile pair.

#include "apps/matrix_factorization/tile_pairs.hpp"

#include "apps/support/parallel.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

namespace factorization {

namespace {

/// Returns the indices of `counts`, from the largest count on.
std::vector<std::uint32_t> by_count(std::vector<std::uint32_t> const& counts) {
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  return order;
}
/// Returns the part of the `k`-th index in that order: indices are dealt to ascending parts, then
/// to descending parts.
std::uint32_t dealt(std::size_t k, std::uint32_t parts) {
  auto const at = static_cast<std::uint32_t>(k % parts);
  return k / parts % 2 == 0 ? at : parts - 1 - at;
}
std::vector<std::uint32_t> counts_of(std::vector<std::uint32_t> const& ids, std::uint32_t most) {
  std::vector<std::uint32_t> counts(most);
  for (std::uint32_t const id : ids) ++counts[id];
  return counts;
}

/// Batches that the worker of a tile pair's hottest item takes in a step.
constexpr std::uint32_t hottest_batches = 3;
/// A user with at least this many ratings in a tile pair is busy: the chain of this user's ratings
/// may be the longest in the tile pair.
constexpr std::uint32_t busy_ratings = 20;
/// Ratings of a busy user in a step, at most.
constexpr std::uint32_t busy_turns = 2;

struct rating {
  std::uint32_t place, item;
  float value;
};

/// Plans the tile pairs of one part of the users.
class part_planner {
 public:
  part_planner(tile_pair_plan& plan, std::vector<std::uint32_t> const& item_part)
      : plan_{plan},
        item_part_{item_part},
        steps_(plan.shape.item_parts),
        workers_(plan.shape.workers),
        turns_(plan.shape.part_size),
        taken_(plan.shape.part_size),
        left_to_hottest_(plan.shape.part_size),
        busy_(plan.shape.part_size) {}

  /// Plans part `part`, whose ratings are `first` to `last`, numbered from `begin` on, and sorts
  /// them. Returns the largest number of ratings of a user in a tile pair; plans nothing if it
  /// exceeds placed_rating::most_turns.
  std::uint32_t plan(std::size_t part, rating* first, rating* last, std::uint32_t begin) {
    std::uint32_t const parts = plan_.shape.item_parts;
    for (std::uint32_t s = 0; s < parts; ++s) steps_[plan_.item_part(part, s)] = s;
    auto const step_of = [&](rating const& r) { return steps_[item_part_[r.item]]; };
    // The most active users have the lowest places. A worker takes ratings from the end of its
    // list.
    std::sort(first, last, [&](rating const& a, rating const& b) {
      if (step_of(a) != step_of(b)) return step_of(a) < step_of(b);
      return a.item != b.item ? a.item < b.item : a.place > b.place;
    });
    std::size_t at = part * parts * plan_.shape.workers;
    std::uint32_t most = 0;
    for (std::uint32_t s = 0; s < parts; ++s) {
      rating* end = first;
      while (end != last && step_of(*end) == s) ++end;
      most = std::max(most, plan_pair(first, end));
      if (most > placed_rating::most_turns) return most;
      for (worker& one : workers_) {
        for (item_run const& run : one.runs) runs_.push_back({begin + run.begin, run.item});
        plan_.begins[at] = static_cast<std::uint32_t>(one.runs.size());
        plan_.frees[at++] = free_of(one);
        std::copy(one.ordered.begin(), one.ordered.end(), plan_.ratings.begin() + begin);
        begin += static_cast<std::uint32_t>(one.ordered.size());
      }
      first = end;
    }
    return most;
  }
  /// Returns the runs of the planned part.
  std::vector<item_run> take_runs() { return std::move(runs_); }

 private:
  struct worker {
    std::vector<placed_rating> ordered;
    std::vector<item_run> runs;  // `begin` is an index of `ordered`
    std::vector<rating> left;    // remaining ratings of its item
    std::uint64_t idle_until;    // number of a step
  };
  struct whole_item {
    rating *first, *last;
  };

  /// Plans one tile pair. Returns the largest number of ratings of a user.
  std::uint32_t plan_pair(rating* first, rating* last) {
    for (rating const* r = first; r != last; ++r) turns_[r->place] = 0;
    std::uint32_t most = 0;
    for (rating const* r = first; r != last; ++r) most = std::max(most, ++turns_[r->place]);
    if (most > placed_rating::most_turns) return most;
    for (rating const* r = first; r != last; ++r)
      busy_[r->place] = turns_[r->place] >= busy_ratings;
    items_.clear();
    for (rating* r = first; r != last;) {
      rating* end = r;
      while (end != last && end->item == r->item) turns_[end++->place] = 0;
      items_.push_back({r, end});
      r = end;
    }
    std::stable_sort(items_.begin(), items_.end(), [](whole_item const& a, whole_item const& b) {
      return a.last - a.first > b.last - b.first;
    });
    for (worker& one : workers_) {
      one.ordered.clear();
      one.runs.clear();
      one.idle_until = 0;
    }
    for (rating const* r = first; r != last; ++r) left_to_hottest_[r->place] = false;
    if (!items_.empty())
      for (rating const* r = items_[0].first; r != items_[0].last; ++r)
        left_to_hottest_[r->place] = true;
    std::size_t next = 0;
    std::uint64_t const begin = step_;
    for (auto left = last - first; left != 0;) {
      ++step_;
      for (worker& one : workers_) {
        if (one.left.empty()) {
          if (next == items_.size() || step_ < one.idle_until) continue;
          one.left.assign(items_[next].first, items_[next].last);
          one.runs.push_back({static_cast<std::uint32_t>(one.ordered.size()), one.left[0].item});
          // A step lasts as long as one batch of another worker. The worker of the hottest item
          // takes no other item before the steps that its ratings may take are over.
          one.idle_until = next == 0 ? begin + one.left.size() / placed_rating::most_of_batch : 0;
          ++next;
        }
        if (one.left[0].item == items_[0].first->item) {
          for (std::uint32_t k = 0; k != hottest_batches; ++k)
            left -= take_batch(one, batch_of::hottest);
        } else {
          left -= take_batch(one, batch_of::busy_user);
          left -= take_batch(one, batch_of::others);
        }
      }
    }
    return most;
  }
  /// Ratings that a batch may have: any ratings of the hottest item; one rating of a busy user, so
  /// that the user is free again soon; ratings of other users.
  enum class batch_of { hottest, busy_user, others };
  [[nodiscard]] bool is_free(std::uint32_t place, batch_of what) const {
    // A step has `busy_turns` turns of a busy user.
    std::uint64_t const from = step_ * busy_turns;
    if (what == batch_of::hottest) return taken_[place] <= from;
    if (left_to_hottest_[place] || busy_[place] != (what == batch_of::busy_user)) return false;
    return taken_[place] <= from + (busy_[place] ? busy_turns - 1 : 0);
  }
  /// Takes the ratings of a worker's next batch in this step. Returns their number.
  std::uint32_t take_batch(worker& one, batch_of what) {
    std::uint32_t const most = what == batch_of::busy_user ? 1 : placed_rating::most_of_batch;
    std::uint32_t n = 0;
    for (; n != most; ++n) {
      auto const at = std::find_if(one.left.rbegin(), one.left.rend(),
                                   [&](rating const& r) { return is_free(r.place, what); });
      if (at == one.left.rend()) break;
      std::uint32_t const turn = turns_[at->place]++;
      taken_[at->place] = std::max(taken_[at->place], step_ * busy_turns) + 1;
      left_to_hottest_[at->place] = false;
      one.ordered.push_back(placed_rating::of(at->place, turn, 0, at->value));
      one.left.erase(std::next(at).base());
    }
    for (std::uint32_t k = 0; k < n; ++k) {
      placed_rating& r = one.ordered[one.ordered.size() - n + k];
      r = placed_rating::of(place_of(r.bits), turn_of(r.bits), n - 1 - k, r.value);
    }
    return n;
  }
  static std::uint32_t free_of(worker const& one) {
    constexpr std::uint32_t most = placed_rating::most_of_batch;
    std::size_t const end = one.runs.size() > 1 ? one.runs[1].begin : one.ordered.size();
    std::uint32_t n = 0;
    auto const is_free = [](placed_rating const& r) { return turn_of(r.bits) == 0; };
    while (n + most <= end && later_ratings(one.ordered[n].bits) + 1 == most &&
           std::all_of(&one.ordered[n], &one.ordered[n] + most, is_free))
      n += most;
    return n;
  }

  tile_pair_plan& plan_;
  std::vector<std::uint32_t> const& item_part_;
  std::vector<std::uint32_t>
      steps_;  // [part of items] step in which the part of the users meets it
  std::vector<worker> workers_;
  std::vector<whole_item> items_;
  std::vector<item_run> runs_;
  std::vector<std::uint32_t> turns_;  // [place] ratings planned in this tile pair
  std::vector<std::uint64_t> taken_;  // [place] step of its last use; see is_free
  std::vector<bool>
      left_to_hottest_;  // [place] true if the hottest item's rating of it is still to come
  std::vector<bool> busy_;
  std::uint64_t step_ = 0;
};

}  // namespace

tile_pair_plan plan_tile_pairs(rating_list const& list, tile_pair_shape const& shape,
                               float offset) {
  tile_pair_plan plan;
  plan.shape = shape;
  std::uint32_t const part_size = shape.part_size;
  std::uint32_t const wave = shape.item_parts * part_size;
  plan.user_parts = std::max(1u, (list.users + wave - 1) / wave) * shape.item_parts;
  plan.shifts.resize(shape.item_parts);
  std::iota(plan.shifts.begin(), plan.shifts.end(), 0u);
  std::shuffle(plan.shifts.begin(), plan.shifts.end(), std::mt19937_64{1});
  plan.user_of.assign(std::size_t{plan.user_parts} * part_size, plan.no_user);

  std::vector<std::uint32_t> const active = by_count(counts_of(list.user, list.users));
  std::vector<std::uint32_t> place(list.users);  // part * part_size + place
  for (std::size_t k = 0; k < active.size(); ++k) {
    std::uint32_t const at =
        dealt(k, plan.user_parts) * part_size + static_cast<std::uint32_t>(k / plan.user_parts);
    place[active[k]] = at;
    plan.user_of[at] = active[k];
  }
  std::vector<std::uint32_t> const popular = by_count(counts_of(list.item, list.items));
  std::vector<std::uint32_t> item_part(list.items);
  for (std::size_t k = 0; k < popular.size(); ++k)
    item_part[popular[k]] = dealt(k, shape.item_parts);

  // Sort by part of users.
  std::vector<std::uint32_t> part_begins(plan.user_parts + std::size_t{1});
  for (std::uint32_t const u : list.user) ++part_begins[place[u] / part_size + 1];
  std::partial_sum(part_begins.begin(), part_begins.end(), part_begins.begin());
  std::vector<rating> sorted(list.size());
  std::vector<std::uint32_t> next(part_begins.begin(), part_begins.end() - 1);
  for (std::size_t k = 0; k < list.size(); ++k) {
    std::uint32_t const at = place[list.user[k]];
    sorted[next[at / part_size]++] = {at % part_size, list.item[k], list.value[k] - offset};
  }

  // Plan each part independently.
  plan.ratings.resize(list.size());
  plan.begins.resize(plan.tile_pairs() * shape.workers + 1);
  plan.frees.resize(plan.tile_pairs() * shape.workers);
  std::vector<std::vector<item_run>> runs(plan.user_parts);
  std::vector<std::uint32_t> most(plan.user_parts);
  apps::for_each_in_parallel(plan.user_parts, [&](std::size_t p) {
    part_planner one{plan, item_part};
    std::uint32_t const begin = part_begins[p];
    most[p] = one.plan(p, sorted.data() + begin, sorted.data() + part_begins[p + 1], begin);
    runs[p] = one.take_runs();
  });
  if (std::uint32_t const n = *std::max_element(most.begin(), most.end());
      n > placed_rating::most_turns) {
    throw std::runtime_error{"tile pairs: a user has " + std::to_string(n) +
                             " ratings of one part of the items; the limit is " +
                             std::to_string(placed_rating::most_turns) +
                             "; take an arm that plans no tile pairs, such as warden_rounds"};
  }
  std::exclusive_scan(plan.begins.begin(), plan.begins.end(), plan.begins.begin(), 0u);
  plan.runs.resize(plan.begins.back() + std::size_t{1});
  apps::for_each_in_parallel(plan.user_parts, [&](std::size_t p) {
    std::copy(runs[p].begin(), runs[p].end(),
              plan.runs.begin() + plan.begins[p * shape.item_parts * shape.workers]);
  });
  plan.runs.back() = {static_cast<std::uint32_t>(list.size()), 0};
  return plan;
}

}  // namespace factorization
