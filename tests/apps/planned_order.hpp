// SPDX-License-Identifier: Apache-2.0
// Ratings of planned tile pairs in an order in which one thread may process them.
#pragma once

#include "apps/matrix_factorization/ratings.hpp"
#include "apps/matrix_factorization/tile_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

/// The ratings of a plan in an order in which one thread can make their steps: steps on one row
/// come as the plan says. `offset` is what the plan took off their values. What has to wait for
/// ever is left out.
inline factorization::rating_list in_planned_order(factorization::tile_pair_plan const& plan,
                                                   std::uint32_t users, std::uint32_t items,
                                                   float offset) {
  factorization::rating_list all;
  all.users = users;
  all.items = items;
  std::size_t const workers = plan.shape.workers, parts = plan.shape.item_parts;
  std::vector<std::uint32_t> at(workers), done(plan.shape.part_size);
  auto const process = [&](std::size_t part, std::size_t step) {
    std::uint32_t const* const begins = &plan.begins[(part * parts + step) * workers];
    std::fill(done.begin(), done.end(), 0u);
    for (std::size_t k = 0; k < workers; ++k) at[k] = plan.runs[begins[k]].begin;
    std::vector<std::uint32_t> run(begins, begins + workers);
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t k = 0; k < workers; ++k) {
        if (at[k] == plan.runs[begins[k + 1]].begin) continue;
        factorization::placed_rating const& r = plan.ratings[at[k]];
        std::uint32_t const place = factorization::place_of(r.bits);
        if (done[place] != factorization::turn_of(r.bits)) continue;
        ++done[place];
        if (at[k] == plan.runs[run[k] + 1].begin) ++run[k];
        all.add(plan.user_of[part * plan.shape.part_size + place], plan.runs[run[k]].item,
                r.value + offset);
        ++at[k];
        moves = true;
      }
    }
  };
  for (std::size_t wave = 0; wave < plan.user_parts; wave += parts)
    for (std::size_t step = 0; step < parts; ++step)
      for (std::size_t part = wave; part < wave + parts; ++part) process(part, step);
  return all;
}

}  // namespace test
