// SPDX-License-Identifier: Apache-2.0
// The simulated memory is as weak as it says: each weakness is seen without a fence, and never with
// it.

#include <warden/buffer.hpp>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>
#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint32_t* words = nullptr;  ///< data, flag, and apart from them a count of bad outcomes
  bool fences = false;
};

template <class Kernel>
std::uint64_t bad_outcomes(Kernel kernel, bool fences, unsigned blocks, unsigned threads,
                           unsigned outcome = 32, bool weak = true) {
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.weak_memory = weak;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{64};
    words.fill_bytes(0);
    simt::launch(kernel, blocks, threads, 64, {words.data(), fences}, {});
    bad += words.to_host()[outcome];
  }
  return bad;
}

WARDEN_KERNEL void message_passing(arguments a) {
  if (simt::block_rank() == 0) {
    simt::store_relaxed(&a.words[0], 1);
    if (a.fences) simt::fence_device();
    simt::store_relaxed(&a.words[8], 1);
  } else if (simt::load_relaxed(&a.words[8]) == 1 && simt::load_relaxed(&a.words[0]) == 0) {
    simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, stores_are_reordered_unless_fenced) {
  EXPECT_GT(bad_outcomes(&message_passing, false, 2, 1), 0u);
  EXPECT_EQ(bad_outcomes(&message_passing, true, 2, 1), 0u);
}

WARDEN_KERNEL void store_buffering(arguments a) {
  unsigned const me = simt::block_rank();
  simt::store_relaxed(&a.words[8 * me], 1);
  if (a.fences) simt::fence_device();
  if (simt::load_relaxed(&a.words[8 * (1 - me)]) == 0) {
    // Both may see nothing: counted once, by whoever comes second.
    if (simt::fetch_add(&a.words[33], 1u) == 1) simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, stores_are_late_unless_fenced) {
  EXPECT_GT(bad_outcomes(&store_buffering, false, 2, 1), 0u);
  EXPECT_EQ(bad_outcomes(&store_buffering, true, 2, 1), 0u);
}

WARDEN_KERNEL void lane(arguments a) {
  auto* const place = reinterpret_cast<simt::lane_words*>(a.words);
  if (simt::block_rank() == 0) {
    simt::store_lane(place, {1, 1});
  } else {
    auto const seen = simt::load_lane(place);
    if (seen.first > seen.second) simt::fetch_add(&a.words[32], 1u);
    if (seen.first < seen.second) simt::fetch_add(&a.words[33], 1u);
  }
}
TEST(weak_memory, lanes_tear) {
  // A lane is stored and loaded first word first: that only the first word is new is the store's
  // doing, and without late stores it is the load's that only the second one is.
  EXPECT_GT(bad_outcomes(&lane, false, 2, 1), 0u);
  EXPECT_GT(bad_outcomes(&lane, false, 2, 1, 32, false), 0u);
  EXPECT_GT(bad_outcomes(&lane, false, 2, 1, 33, false), 0u);
}

// Thread 0 stores; a barrier; thread 1 fences (or not) and raises the flag for the other block.
WARDEN_KERNEL void cumulativity(arguments a) {
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() == 0) simt::store_relaxed(&a.words[0], 1);
    simt::sync_block();
    if (simt::thread_rank() == 1) {
      if (a.fences) simt::fence_device();
      simt::store_relaxed(&a.words[8], 1);
    }
  } else if (simt::thread_rank() == 0 && simt::load_relaxed(&a.words[8]) == 1 &&
             simt::load_relaxed(&a.words[0]) == 0) {
    simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, a_fence_after_a_barrier_covers_the_block) {
  EXPECT_GT(bad_outcomes(&cumulativity, false, 2, 2), 0u);
  EXPECT_EQ(bad_outcomes(&cumulativity, true, 2, 2), 0u);
}

// Another thread of the block fences, after the store but before the barrier: that is no release of
// thread 0's store.
WARDEN_KERNEL void a_strangers_fence(arguments a) {
  auto& stored = *reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  if (simt::block_rank() == 0) {
    if (simt::thread_rank() == 0) simt::shared_store(stored, 0u);
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      simt::store_relaxed(&a.words[0], 1);
      simt::shared_store(stored, 1u);
    }
    if (simt::thread_rank() == 1 && a.fences) {
      simt::wait_until([&] { return simt::shared_load(stored) == 1u; }, [] { return true; },
                       [&](auto watch) { watch(&stored); });
      simt::fence_device();
    }
    simt::sync_block();
    if (simt::thread_rank() == 1) simt::store_relaxed(&a.words[8], 1);
  } else if (simt::thread_rank() == 0 && simt::load_relaxed(&a.words[8]) == 1 &&
             simt::load_relaxed(&a.words[0]) == 0) {
    simt::fetch_add(&a.words[32], 1u);
  }
}
TEST(weak_memory, a_strangers_fence_before_the_barrier_does_not) {
  EXPECT_GT(bad_outcomes(&a_strangers_fence, true, 2, 2), 0u);
}

TEST(weak_memory, can_be_switched_off) {
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    warden::sim::settings s;
    s.seed = seed;
    s.weak_memory = false;
    warden::sim::configure(s);
    warden::buffer<std::uint32_t> words{64};
    words.fill_bytes(0);
    simt::launch(&message_passing, 2, 1, 64, {words.data(), false}, {});
    bad += words.to_host()[32];
  }
  EXPECT_EQ(bad, 0u);
  warden::sim::configure({});
}

}  // namespace
