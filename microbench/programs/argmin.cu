// SPDX-License-Identifier: Apache-2.0
// The cheapest candidate of each node, and 4 bytes that belong to it.

#include "microbench/programs/program.cuh"

#include <limits>

namespace {

// ---- the work

struct best {
  float cost;
  std::uint32_t candidate, extra;
  __device__ bool is_noop(best const& found) const {
    return found.cost < cost || (found.cost == cost && found.candidate <= candidate);
  }
  __device__ static best combine(best const& a, best const& b) { return b.is_noop(a) ? a : b; }
  __device__ void operator()(best& found) const { found = combine(found, *this); }
};
using nodes = warden::guarded<best, best>;

// ---- data and check

constexpr best none{std::numeric_limits<float>::infinity(), ~0u, 0};
struct draw_cost {
  __device__ float operator()(std::uint64_t i) const {
    return static_cast<float>(bench::mix(i, 11) >> 40);
  }
};
struct draw_extra {
  __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(bench::mix(i, 12));
  }
};
struct draw_none {
  __device__ best operator()(std::uint64_t) const { return none; }
};
std::vector<best> best_of(std::vector<std::uint32_t> const& ids, std::vector<float> const& costs,
                          std::vector<std::uint32_t> const& extras, std::uint32_t n_nodes) {
  std::vector<best> all(n_nodes, none);
  // A candidate that is no cheaper comes later.
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    if (costs[i] < all[ids[i]].cost) all[ids[i]] = {costs[i], i, extras[i]};
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 26);
  auto const costs = programs::made<float>(n, draw_cost{});
  auto const extras = programs::made<std::uint32_t>(n, draw_extra{});
  auto const candidate = [costs = costs.data(),
                          extras = extras.data()] __device__(std::uint64_t i) {
    return best{costs[i], static_cast<std::uint32_t>(i), extras[i]};
  };
  programs::report report{"argmin"};
  for (std::uint32_t const n_nodes : {n / 64, 256u}) {
    auto const ids = programs::draw_ids("uniform", n_nodes, n);
    auto const expected = best_of(ids.to_host(), costs.to_host(), extras.to_host(), n_nodes);
    auto const empty = programs::made<best>(n_nodes, draw_none{});
    warden::buffer<best> found{n_nodes};
    nodes all{found};
    report.measure(
        std::to_string(n_nodes) + " nodes", n,
        [&] { warden::copy(found.data(), empty.data(), n_nodes); },
        [&] { all.apply_async(ids, candidate); }, [&] { all.wait(); },
        [&] {
          return std::ranges::equal(found.to_host(), expected, [](auto const& a, auto const& b) {
            return a.cost == b.cost && a.candidate == b.candidate && a.extra == b.extra;
          });
        });
  }
  return report.exit_code();
}
