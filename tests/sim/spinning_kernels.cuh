// SPDX-License-Identifier: Apache-2.0
// Plain kernels that spin, each right or with one fault that ends in a deadlock.
#pragma once

#include <warden/cuda_names.cuh>

namespace spinning {

/// Which lanes a tile of 4 lanes, which takes a lock together, names in its collectives.
enum class masks {
  of_tile,                 ///< right
  of_warp,                 ///< all collectives name the whole warp
  of_warp_under_the_lock,  ///< the whole warp converges while tiles hold locks
};

/// Tiles of 4 lanes take the lock of a key together.
template <masks Masks>
__global__ void lock_by_tiles(unsigned* locks, unsigned* values, unsigned keys) {
  unsigned const first = threadIdx.x % 32 / 4 * 4, key = threadIdx.x / 4 % keys;
  unsigned const tile = 0xfu << first;
  bool const leads = threadIdx.x % 4 == 0;
  unsigned got = 0;
  do {
    if (leads) got = atomicCAS(&locks[key], 0u, 1u) == 0u ? 1 : 0;
    got = __shfl_sync(Masks == masks::of_warp ? ~0u : tile, got, static_cast<int>(first));
  } while (got == 0);
  __threadfence();
  if (leads) __stcg(&values[key], __ldcg(&values[key]) + 1);
  __syncwarp(Masks == masks::of_tile ? tile : ~0u);
  __threadfence();
  if (leads) atomicExch(&locks[key], 0u);
}

/// A warp takes a lock together: its first lane tries, all look.
__global__ void lock_by_warps(unsigned* lock, unsigned* sum) {
  bool const leads = threadIdx.x % 32 == 0;
  unsigned got = 0;
  do {
    if (leads) got = atomicCAS(lock, 0u, 1u) == 0u ? 1 : 0;
    got = __shfl_sync(~0u, got, 0);
  } while (got == 0);
  __threadfence();
  if (leads) __stcg(sum, __ldcg(sum) + 1);
  __threadfence();
  __syncwarp();
  if (leads) atomicExch(lock, 0u);
}

/// Like lock_by_warps, with a count of tries: memory changes as the warp spins. The warp that has
/// the lock lets others run.
__global__ void lock_and_count_tries(unsigned* lock, unsigned* tries) {
  bool const leads = threadIdx.x % 32 == 0;
  unsigned got = 0;
  do {
    if (leads) got = atomicCAS(lock, 0u, 1u) == 0u ? 1 : 0;
    if (leads) atomicAdd(tries, 1u);
    got = __shfl_sync(~0u, got, 0);
  } while (got == 0);
  __nanosleep(100);
  if (leads) atomicExch(lock, 0u);
}

/// All threads of a block wait for a flag, which the last block sets, if it does.
template <bool Sets>
__global__ void wait_as_blocks(unsigned* flag, unsigned* out) {
  if (blockIdx.x == gridDim.x - 1) {
    __threadfence();
    if (Sets && threadIdx.x == 0) atomicExch(flag, 1u);
    return;
  }
  while (__syncthreads_or(threadIdx.x == 0 && __ldcg(flag) != 0 ? 1 : 0) == 0) {
  }
  if (threadIdx.x == 0) atomicAdd(out, 1u);
}

inline __device__ void lock(unsigned* l) {
  while (atomicCAS(l, 0u, 1u) != 0u) {
  }
  __threadfence();
}
inline __device__ void unlock(unsigned* l) {
  __threadfence();
  atomicExch(l, 0u);
}
/// The first thread of each block takes two locks, in one order or not.
template <bool Ordered>
__global__ void take_two_locks(unsigned* locks, unsigned rounds) {
  for (unsigned r = 0; threadIdx.x == 0 && r < rounds; ++r) {
    unsigned const first = !Ordered && blockIdx.x % 2 == 1 ? 1 : 0;
    lock(&locks[first]);
    lock(&locks[1 - first]);
    unlock(&locks[1 - first]);
    unlock(&locks[first]);
  }
  __syncthreads();
}

/// A barrier of the grid by a count of blocks.
__global__ void meet_as_grid(unsigned* count, unsigned* out) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (__ldcg(count) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, 1u);
}

/// The first block clears the count when other blocks may not have seen it full.
__global__ void clear_the_count_early(unsigned* count, unsigned* out) {
  if (threadIdx.x != 0) return;
  atomicAdd(count, 1u);
  while (__ldcg(count) < gridDim.x) {
  }
  atomicAdd(out, 1u);
  if (blockIdx.x == 0) __stcg(count, 0u);
}

/// A barrier of the grid in a loop, as often as each block says, or as the block that says most.
template <bool Uniform>
__global__ void meet_in_a_loop(unsigned* count, unsigned const* rounds) {
  unsigned most = rounds[blockIdx.x];
  for (unsigned b = 0; Uniform && b < gridDim.x; ++b) most = max(most, rounds[b]);
  for (unsigned i = 0; i < most; ++i) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1u);
      while (__ldcg(count) < (i + 1) * gridDim.x) __nanosleep(100);
      __threadfence();
    }
    __syncthreads();
  }
}

/// Threads insert into cells, each of which a mark locks, with a barrier after each try. Correct:
/// all threads stay in the loop until all have inserted.
__global__ void insert_with_votes(int* cells, int n, int count) {
  for (int first = 0; first < n; first += static_cast<int>(blockDim.x)) {
    int const i = first + static_cast<int>(threadIdx.x);
    bool done = i >= n;
    while (__syncthreads_and(done ? 1 : 0) == 0) {
      int* const cell = &cells[i * 7 % count];
      int const before = done ? -2 : atomicAdd(cell, 0);
      if (before == -2 || atomicCAS(cell, before, -2) != before) continue;
      __threadfence();
      atomicExch(cell, i);
      done = true;
    }
  }
}
/// Wrong: threads leave the loop at different times.
__global__ void insert_with_barriers(int* cells, int n, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < n;) {
    int* const cell = &cells[i * 7 % count];
    int const before = atomicAdd(cell, 0);
    if (before != -2 && atomicCAS(cell, before, -2) == before) {
      __threadfence();
      atomicExch(cell, i);
      i += static_cast<int>(blockDim.x);
    }
    __syncthreads();
  }
}

/// Lanes wait until all lanes of the mask are done; those that have ended never are.
__global__ void vote_for_lanes_that_left(unsigned* locks) {
  if (threadIdx.x % 3 == 0) return;
  bool done = false;
  unsigned all = 0;
  while (all != ~0u) {
    unsigned* const mine = &locks[threadIdx.x % 5];
    if (!done && atomicCAS(mine, 0u, 1u) == 0u) {
      atomicExch(mine, 0u);
      done = true;
    }
    all = __ballot_sync(~0u, done ? 1 : 0);
  }
}

/// Each thread looks for an empty slot, and there is none.
__global__ void look_for_an_empty_slot(unsigned const* slots, unsigned n) {
  for (unsigned at = threadIdx.x % n; __ldcg(&slots[at]) != 0; at = (at + 1) % n) {
  }
}

/// A thread reads n words, and before each one a flag; the others wait at a barrier.
__global__ void read_many_words(unsigned const* words, unsigned n, unsigned const* stop,
                                unsigned* sum) {
  unsigned mine = 0;
  for (unsigned i = 0; threadIdx.x == 0 && i < n && __ldcg(stop) == 0; ++i)
    mine += __ldcg(&words[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

/// A lane reads n words, the others look at a flag, and all vote before each word.
__global__ void read_many_words_in_a_warp(unsigned const* words, unsigned n, unsigned const* stop,
                                          unsigned* sum) {
  unsigned mine = 0;
  for (unsigned i = 0; i < n; ++i) {
    bool const stops = threadIdx.x != 0 && __ldcg(stop) != 0;
    if (threadIdx.x == 0) mine += __ldcg(&words[i]);
    if (__any_sync(~0u, stops ? 1 : 0) != 0) break;
  }
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

/// A thread writes by plain stores, and before each one reads a flag.
__global__ void write_plainly(unsigned* words, unsigned n, unsigned const* stop) {
  for (unsigned i = 0; i < n && __ldcg(stop) == 0; ++i) words[i % 64] = i;
}

}  // namespace spinning
