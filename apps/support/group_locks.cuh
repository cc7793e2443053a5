// SPDX-License-Identifier: Apache-2.0
/// @file
/// Launch settings of kernels in which groups of lanes take global locks by their first lane,
/// chosen by measuring.
#pragma once

#include <warden/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace apps {

/// Settings of a launch of such a kernel.
struct group_lock_choice {
  bool back_off;
  unsigned blocks;  ///< 0: full occupancy
  unsigned threads;
};
/// Returns a text such as "back-off 132x256".
inline std::string to_string(group_lock_choice const& c) {
  return std::string{c.back_off ? "back-off " : ""} +
         (c.blocks == 0 ? "full" : std::to_string(c.blocks)) + "x" + std::to_string(c.threads);
}

/// Returns the choice with the least `cost(choice, part)`, the cost of `part` of `n` operations in
/// any unit. Increases `part` as long as that is quick. Blocks the host as `cost` does.
template <class Cost>
group_lock_choice fastest_group_locks(std::uint32_t n, Cost cost) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  auto const sms = static_cast<unsigned>(facts.multiprocessors);
  struct candidate {
    group_lock_choice choice;
    double cost = 0;
  };
  std::vector<candidate> all;
  for (bool const back_off : {false, true}) {
    for (unsigned const blocks : {0u, 4 * sms, 2 * sms, sms, 32u, 8u}) {
      for (unsigned const threads : {512u, 256u, 128u, 32u}) {
        if (facts.simulated && (blocks == 0 || blocks * threads > 256)) continue;
        all.push_back({{back_off, blocks, threads}});
      }
    }
  }
  // The first sample is so small that hopeless choices cost little.
  for (std::uint32_t part = std::min(n, 4096u);; part = std::min(n, 16 * part)) {
    double best = 1e300;
    for (candidate& c : all) {
      c.cost = cost(c.choice, part);
      if (c.cost < 2 * best) c.cost = std::min(c.cost, cost(c.choice, part));
      best = std::min(best, c.cost);
    }
    bool const last = part == n || best > 5e-3;
    std::erase_if(all, [&](candidate const& c) { return c.cost > (last ? 1 : 2) * best; });
    if (last) return all.front().choice;
  }
}

}  // namespace apps
