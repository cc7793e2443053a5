// SPDX-License-Identifier: Apache-2.0
// Draws counts on the device.

#include "microbench/allocation/item_counts.hpp"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

#include <algorithm>
#include <stdexcept>

namespace allocation {

namespace simt = warden::simt;

enum spread : unsigned { uniform8, zipf, one };

struct count_arguments {
  std::uint32_t* counts;
  std::uint32_t n;
  std::uint64_t seed;
  unsigned spread;
  std::uint32_t least,
      emits_all;  ///< emits_all: the item that emits all elements, for the spread `one`
  std::uint64_t* sum;
};

WARDEN_DEVICE std::uint32_t drawn_count(std::uint64_t i, count_arguments const& a) {
  if (a.spread == uniform8) return static_cast<std::uint32_t>(bench::mix(i, a.seed) % 9);
  if (a.spread == one) return i == a.emits_all ? 4 * a.n : 0;
  // The r-th smallest of n draws u is about r / n, so the item of rank r emits about n / r.
  double const u = bench::mix_to_unit(i, a.seed), least = 1. / a.n;
  return static_cast<std::uint32_t>(1 / (u < least ? least : u)) - 1;
}
WARDEN_KERNEL void draw_counts(count_arguments a) {
  simt::assume_one_dimension();
  std::uint64_t sum = 0;
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    std::uint32_t const count = a.least + drawn_count(i, a);
    a.counts[i] = count;
    sum += count;
  });
  simt::fetch_add(a.sum, sum);
}

item_counts::item_counts(std::string const& spread, std::uint32_t least) : least_{least}, sum_{1} {
  auto const found = std::find(spreads.begin(), spreads.end(), spread);
  if (found == spreads.end()) throw std::runtime_error{"no counts " + spread};
  spread_ = static_cast<unsigned>(found - spreads.begin());
}

std::uint64_t item_counts::draw(std::uint32_t* counts, std::uint32_t n, std::uint64_t seed) {
  sum_.fill_bytes(0);
  auto const [blocks, threads] = bench::shape_of_helpers();
  auto const emits_all = static_cast<std::uint32_t>(bench::mix(0, seed) % n);
  simt::launch(&draw_counts, blocks, threads, 0,
               {counts, n, seed, spread_, least_, emits_all, sum_.data()}, {});
  return sum_.to_host()[0];
}

}  // namespace allocation
