// SPDX-License-Identifier: Apache-2.0
// Kernels of public reports with plain and volatile accesses: each with its fault, and mended.
#pragma once

#include <warden/cuda_names.cuh>

namespace race_kernels {

// ---- locks

/// A lock of the classic kind around plain accesses, with or without its fences.
template <bool Fences>
__global__ void spin_lock(unsigned* lock, unsigned* record) {
  for (bool done = false; !done;) {
    if (atomicExch(lock, 1u) != 0u) continue;
    if (Fences) __threadfence();
    record[0] += 1;
    record[1] += 2;
    if (Fences) __threadfence();
    atomicExch(lock, 0u);
    done = true;
  }
}
/// Several locks, taken by a bit.
template <bool Fences>
__global__ void bit_lock(unsigned* locks, unsigned* records) {
  unsigned const id = threadIdx.x % 4;
  while ((atomicOr(&locks[id], 1u) & 1u) != 0u) {
  }
  if (Fences) __threadfence();
  records[id] += 1;
  if (Fences) __threadfence();
  atomicAnd(&locks[id], ~1u);
}
/// The lock is tried once, and the rest is done only by the threads that got it.
template <bool Fences>
__global__ void try_lock(unsigned* lock, unsigned* record) {
  if (atomicCAS(lock, 0u, 1u) != 0u) return;
  if (Fences) __threadfence();
  *record += 1;
  if (Fences) __threadfence();
  atomicExch(lock, 0u);
}
/// The lock is released by a plain store, which the reporters took for enough.
template <bool Atomic>
__global__ void plain_unlock(unsigned* lock, unsigned* record) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  __threadfence();
  *record += 1;
  __threadfence();
  if (Atomic) {
    atomicExch(lock, 0u);
  } else {
    *lock = 0;
  }
}
/// No lock at all.
template <bool Atomic>
__global__ void sum_up(unsigned*, unsigned* sum) {
  if (Atomic) {
    atomicAdd(sum, 1u);
  } else {
    *sum += 1;
  }
}

// ---- publication

/// Block 0 fills `data` and sets a flag; the other blocks wait for it.
template <bool Fences>
__global__ void volatile_flag(unsigned* flag, unsigned* data) {
  unsigned volatile* const ready = flag;
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    *data = 7;
    if (Fences) __threadfence();
    *ready = 1;
    return;
  }
  while (*ready == 0) {
  }
  if (Fences) __threadfence();
  if (*data != 7) __trap();
}
/// The flag is polled by plain loads, which the compiler may read once and keep.
template <bool Volatile>
__global__ void plain_flag(unsigned* flag, unsigned* data) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    atomicExch(data, 7u);
    __threadfence();
    atomicExch(flag, 1u);
    return;
  }
  if (Volatile) {
    while (*static_cast<unsigned volatile*>(flag) == 0) {
    }
  } else if (*flag == 0) {
    return;
  }
  __threadfence();
  if (*data != 7) __trap();
}
/// The last block to finish adds what the others left: CUDA's example threadFenceReduction.
template <bool Fences>
__global__ void last_block(unsigned* count, unsigned* partial) {
  WARDEN_SHARED(bool, is_last);
  if (threadIdx.x == 0) {
    partial[1 + blockIdx.x] = blockIdx.x;
    if (Fences) __threadfence();
    is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    if (Fences) __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  for (unsigned b = 0; b < gridDim.x; ++b) partial[0] += partial[1 + b];
}
/// A queue: each producer fills its slot and raises the count by one.
template <bool Ready>
__global__ void queue(unsigned* state, unsigned* slots) {
  unsigned* const tail = state;
  unsigned* const ready = state + 1;
  if (blockIdx.x != 0) {
    unsigned const slot = atomicAdd(tail, 1u);
    slots[slot] = slot + 1;
    __threadfence();
    atomicAdd(ready, 1u);
    return;
  }
  if (threadIdx.x != 0) return;
  unsigned const all = (gridDim.x - 1) * blockDim.x;
  // The reporters waited for the reservations instead.
  while (atomicAdd(Ready ? ready : tail, 0u) != all) {
  }
  __threadfence();
  for (unsigned i = 0; i < all; ++i) slots[i] += 1;
}

// ---- barriers

/// Neighbours in shared memory, without the barrier between.
template <bool Barrier>
__global__ void shift_in_block(unsigned*, unsigned* out) {
  WARDEN_SHARED(unsigned[64], values);
  values[threadIdx.x] = threadIdx.x;
  if (Barrier) __syncthreads();
  unsigned const next = values[(threadIdx.x + 1) % blockDim.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = next;
}
/// A reduction in a warp that relies on its lanes to keep pace.
template <bool Barrier>
__global__ void warp_sum(unsigned*, unsigned* out) {
  WARDEN_DYNAMIC_SHARED(unsigned, values);
  unsigned const lane = threadIdx.x % 32;
  unsigned* const mine = values + threadIdx.x / 32 * 32;
  mine[lane] = lane;
  for (unsigned d = 16; d != 0; d /= 2) {
    if (Barrier) __syncwarp();
    unsigned const other = lane < d ? mine[lane + d] : 0;
    if (Barrier) __syncwarp();
    mine[lane] += other;
  }
  if (lane == 0) out[blockIdx.x * 2 + threadIdx.x / 32] = mine[0];
}

}  // namespace race_kernels
