// SPDX-License-Identifier: Apache-2.0
// `__activemask()` on the simulated device: as the seed chooses, the caller alone, some or all of
// the lanes of its warp that are at the same place.

#include "tests/support/error_text.hpp"
#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <vector>

namespace {

using words = warden::buffer<unsigned>;

__global__ void ask_at_two_places(unsigned* masks) {
  unsigned mask;
  if (threadIdx.x % 2 == 0) {
    mask = __activemask();
  } else {
    mask = __activemask();
  }
  masks[threadIdx.x] = mask;
}

TEST(active_mask, is_shared_by_lanes_at_one_place) {
  std::set<int> sizes;
  test::under_many_schedules(1, [&](std::uint64_t) {
    words const all{64};
    warden::launch(ask_at_two_places, 1, 64, {}, all.data());
    std::vector<unsigned> const masks = all.to_host();
    for (unsigned t = 0; t < 64; ++t) {
      sizes.insert(std::popcount(masks[t]));
      EXPECT_TRUE(masks[t] >> t % 32 & 1u);
      EXPECT_EQ(masks[t] & (t % 2 == 0 ? 0xaaaaaaaau : 0x55555555u), 0u);
      for (unsigned other = 0; other < 32; ++other) {
        if (masks[t] >> other & 1u) {
          EXPECT_EQ(masks[t / 32 * 32 + other], masks[t]);
        }
      }
    }
  });
  EXPECT_EQ(sizes.size(), 16u) << "from the caller alone to all lanes at the place";
}

/// One lane adds for all lanes of the mask.
__global__ void add_together(unsigned* sum) {
  for (unsigned i = 0; i < 1 + threadIdx.x % 3; ++i) {
    unsigned const mask = __activemask();
    if (__ffs(static_cast<int>(mask)) - 1 == static_cast<int>(threadIdx.x % 32))
      atomicAdd(sum, static_cast<unsigned>(__popc(mask)));
    __syncwarp(mask);
  }
}

/// Lanes take locks, and go on when all lanes of the mask have had theirs.
__global__ void lock_until_all_are_done(unsigned* locks, unsigned* sums) {
  if (threadIdx.x % 3 == 0) return;
  unsigned const mask = __activemask();
  unsigned const key = threadIdx.x % 5;
  bool done = false;
  for (unsigned all = 0; all != mask;) {
    if (!done && atomicCAS(&locks[key], 0u, 1u) == 0u) {
      __threadfence();
      __stcg(&sums[key], __ldcg(&sums[key]) + 1);
      __threadfence();
      atomicExch(&locks[key], 0u);
      done = true;
    }
    all = __ballot_sync(mask, done);
  }
}

TEST(active_mask, serves_kernels_that_take_any_mask) {
  test::under_many_schedules(1, [](std::uint64_t) {
    words all{16};
    all.fill_bytes(0);
    warden::launch(add_together, 2, 48, {}, all.data());
    warden::launch(lock_until_all_are_done, 2, 64, {}, all.data() + 1, all.data() + 8);
    std::vector<unsigned> const seen = all.to_host();
    EXPECT_EQ(seen[0], 2u * 16u * (1u + 2u + 3u));
    EXPECT_EQ(seen[8] + seen[9] + seen[10] + seen[11] + seen[12], 2u * 42u);
  });
}

/// Half of the lanes leave the others, which wait for the whole mask.
__global__ void part_after_the_mask(unsigned* counted) {
  unsigned const mask = __activemask();
  if (threadIdx.x < 16) *counted = static_cast<unsigned>(__popc(__ballot_sync(mask, 1)));
  __syncthreads();
}

/// One lane adds for the whole warp.
__global__ void add_for_the_warp(unsigned* sum) {
  unsigned const mask = __activemask();
  if (__ffs(static_cast<int>(mask)) - 1 == static_cast<int>(threadIdx.x)) atomicAdd(sum, 32u);
}

TEST(active_mask, shows_faults_of_kernels_that_expect_one_mask) {
  unsigned deadlocks = 0;
  std::set<unsigned> sums;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.order = seed % 2 == 0 ? warden::sim::schedule::pct : warden::sim::schedule::random;
    warden::sim::configure(s);
    words word{1};
    word.fill_bytes(0);
    warden::launch(part_after_the_mask, 1, 32, {}, word.data());
    deadlocks += test::error_of<warden::sim::misuse_error>([] {
                   warden::stream_ref{}.synchronize();
                 }).find("not all its threads reach") != std::string::npos
                     ? 1
                     : 0;
    word.fill_bytes(0);
    warden::launch(add_for_the_warp, 1, 32, {}, word.data());
    sums.insert(word.to_host()[0]);
  }
  warden::sim::configure({});
  EXPECT_GT(deadlocks, 10u);
  EXPECT_TRUE(sums.count(32)) << "the lanes were together";
  EXPECT_GT(sums.size(), 3u);
}

}  // namespace
