// SPDX-License-Identifier: Apache-2.0
// Litmus tests of what the library relies on, the same on both devices: outcomes that the memory
// model forbids must never be seen.

#include "tests/support/support.cuh"

#include <warden/simt/launch.cuh>

namespace {

namespace simt = warden::simt;

struct arguments {
  std::uint64_t* words;  ///< zero before each launch
  std::uint64_t* bad;
  std::uint32_t rounds;
};

/// One launch of two blocks many times on the GPU, many seeds on the simulated device.
void never(void (*kernel)(arguments), unsigned threads) {
  unsigned const launches = test::sized(300u, 200u);
  std::uint32_t const rounds = test::sized(4u, 2000u);
  warden::buffer<std::uint64_t> words{4096}, bad{1};
  bad.fill_bytes(0);
  for (unsigned i = 0; i < launches; ++i) {
    words.fill_bytes(0);
    simt::launch(kernel, 2, threads, 64, {words.data(), bad.data(), rounds}, {});
  }
  EXPECT_EQ(bad.to_host()[0], 0u);
}

__device__ std::uint64_t* place(arguments const& a, std::uint32_t round, unsigned which) {
  return a.words + (round * 2 + which) * 16 % 4096;
}

// Words only grow, so a place may serve again in a later round.
WARDEN_KERNEL void message_passing(arguments a) {
  for (std::uint32_t r = 1; r <= a.rounds; ++r) {
    std::uint64_t* const data = place(a, r, 0);
    std::uint64_t* const flag = place(a, r, 1);
    if (simt::block_rank() == 0) {
      simt::store_relaxed(data, std::uint64_t{r});
      simt::fence_device();
      simt::store_relaxed(flag, std::uint64_t{r});
    } else {
      std::uint64_t const f = simt::load_relaxed(flag);
      simt::fence_device();
      if (simt::load_relaxed(data) < f) simt::fetch_add(a.bad, std::uint64_t{1});
    }
  }
}
TEST(litmus, message_passing_with_fences) { never(&message_passing, 1); }

WARDEN_KERNEL void release_acquire(arguments a) {
  for (std::uint32_t r = 1; r <= a.rounds; ++r) {
    std::uint64_t* const data = place(a, r, 0);
    std::uint64_t* const flag = place(a, r, 1);
    if (simt::block_rank() == 0) {
      simt::store_relaxed(data, std::uint64_t{r});
      simt::store_release(flag, std::uint64_t{r});
    } else {
      std::uint64_t const f = simt::load_acquire(flag);
      if (simt::load_relaxed(data) < f) simt::fetch_add(a.bad, std::uint64_t{1});
    }
  }
}
TEST(litmus, release_and_acquire) { never(&release_acquire, 1); }

// All threads write, a barrier, one other thread fences and raises the flag; the other block's
// first thread sees the flag, a barrier, and all its threads must see everything.
WARDEN_KERNEL void block_to_block(arguments a) {
  std::uint64_t* const mine = a.words + 1024 + simt::thread_rank();
  simt::shared_span<std::uint64_t> const told{
      reinterpret_cast<std::uint64_t*>(simt::dynamic_shared()), 1};
  for (std::uint32_t r = 1; r <= a.rounds; ++r) {
    if (simt::block_rank() == 0) {
      simt::store_relaxed(mine, std::uint64_t{r});
      simt::sync_block();
      if (simt::thread_rank() == simt::block_threads() - 1) {
        simt::fence_device();
        simt::store_relaxed(a.words, std::uint64_t{r});
      }
      simt::sync_block();
    } else {
      if (simt::thread_rank() == 0) {
        told[0] = simt::load_relaxed(a.words);
        simt::fence_device();
      }
      simt::sync_block();
      std::uint64_t const flag = told[0];
      if (simt::load_relaxed(mine) < flag) simt::fetch_add(a.bad, std::uint64_t{1});
      simt::sync_block();
    }
  }
}
TEST(litmus, barriers_and_one_threads_fence_are_cumulative) { never(&block_to_block, 64); }

WARDEN_KERNEL void coherence(arguments a) {
  std::uint64_t last = 0;
  for (std::uint32_t r = 1; r <= a.rounds; ++r) {
    if (simt::block_rank() == 0) {
      simt::store_relaxed(a.words, std::uint64_t{r});
    } else {
      std::uint64_t const seen = simt::load_relaxed(a.words);
      if (seen < last) simt::fetch_add(a.bad, std::uint64_t{1});
      last = seen;
    }
  }
}
TEST(litmus, one_word_never_goes_back) { never(&coherence, 1); }

// Each word of a flit is atomic: it is never half old.
WARDEN_KERNEL void flit_words_are_atomic(arguments a) {
  auto* const flit = reinterpret_cast<simt::flit_words*>(a.words);
  for (std::uint64_t r = 1; r <= a.rounds; ++r) {
    if (simt::block_rank() == 0) {
      simt::store_flit(flit, {r << 32 | r, r << 40 | r});
    } else {
      auto const seen = simt::load_flit(flit);
      if (seen.first >> 32 != (seen.first & 0xffffffffu) ||
          seen.second >> 40 != (seen.second & 0xffffffffu)) {
        simt::fetch_add(a.bad, std::uint64_t{1});
      }
    }
  }
}
TEST(litmus, words_of_a_flit_are_atomic) { never(&flit_words_are_atomic, 1); }

// Not part of the memory model: the property of the device that readiness::single_tag needs. A
// warp's lanes access neighbouring slots, as servers and clients do.
WARDEN_KERNEL void single_tag(arguments a) {
  auto* const flit = reinterpret_cast<simt::flit_words*>(a.words) + simt::lane_id();
  for (std::uint64_t r = 1; r <= a.rounds; ++r) {
    if (simt::block_rank() == 0) {
      simt::store_whole_flit(flit, {r, ~r});
    } else {
      auto const seen = simt::load_whole_flit(flit);
      if (seen.first != 0 && seen.first != ~seen.second) simt::fetch_add(a.bad, std::uint64_t{1});
    }
  }
}
TEST(litmus, flits_with_a_single_tag_are_whole) { never(&single_tag, 32); }

}  // namespace
