// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pool of overflow nodes: numbers 1 to capacity, which any thread of the device takes and gives
/// back in any order.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace hash_table {

namespace simt = warden::simt;

/// Number of stacks of freed numbers. The warp that frees a number determines the stack, so that
/// warps rarely contend for one.
inline constexpr std::uint32_t pool_stacks = 1024;

/// State of a pool in device memory; zero if nothing was taken.
struct pool_state {
  /// Number on top, and in the upper half the number of changes, so that a compare-and-swap fails
  /// if the top was taken and given back in between.
  struct alignas(32) stack {
    std::uint64_t top;
  };
  stack stacks[pool_stacks];
  alignas(128) std::uint32_t begun;  ///< first number that was never taken; may exceed the capacity
};

/// Pool for kernels. Lock-free: no call waits for another thread.
class pool_ref {
 public:
  pool_ref() = default;
  /// `below[n - 1]` is the freed number below `n`. Both arrays are device memory.
  pool_ref(pool_state* state, std::uint32_t* below, std::uint32_t capacity)
      : state_{state}, below_{below}, capacity_{capacity} {}

  /// Returns a free number, or 0 if all are taken. May miss a number that is given back
  /// concurrently.
  __device__ std::uint32_t take() const {
    std::uint32_t const mine = stack_of_warp();
    std::uint32_t number = pop(mine);
    if (number != 0) return number;
    // Read first, so that the count of a full pool does not grow.
    if (simt::load_relaxed(&state_->begun) < capacity_) {
      std::uint32_t const fresh = simt::fetch_add(&state_->begun, 1u);
      if (fresh < capacity_) return fresh + 1;
    }
    for (std::uint32_t other = 1; other < pool_stacks && number == 0; ++other)
      number = pop((mine + other) % pool_stacks);
    return number;
  }

  /// Gives `number` back. Precondition: the caller has taken it and does not use its node any more.
  __device__ void give(std::uint32_t number) const {
    std::uint64_t* const place = &state_->stacks[stack_of_warp()].top;
    std::uint64_t top = simt::load_relaxed(place);
    while (true) {
      simt::store_relaxed(&below_[number - 1], static_cast<std::uint32_t>(top));
      // Release: orders the caller's accesses to the number's node, and the store above, before the
      // exchange.
      simt::fence_device();
      std::uint64_t const found =
          simt::compare_exchange(place, top, ((top >> 32) + 1) << 32 | number);
      if (found == top) return;
      top = found;
    }
  }

 private:
  __device__ static std::uint32_t stack_of_warp() {
    return (simt::block_rank() * (simt::block_threads() / simt::warp_size) + simt::warp_rank()) %
           pool_stacks;
  }
  __device__ std::uint32_t pop(std::uint32_t stack) const {
    std::uint64_t* const place = &state_->stacks[stack].top;
    std::uint64_t top = simt::load_relaxed(place);
    while (static_cast<std::uint32_t>(top) != 0) {
      // Acquire: `give` fenced between its store of `below` and the exchange whose value this
      // thread has read.
      simt::fence_device();
      auto const number = static_cast<std::uint32_t>(top);
      std::uint64_t const rest = ((top >> 32) + 1) << 32 | simt::load_relaxed(&below_[number - 1]);
      std::uint64_t const found = simt::compare_exchange(place, top, rest);
      if (found == top) return number;
      top = found;
    }
    return 0;
  }

  pool_state* state_;
  std::uint32_t* below_;
  std::uint32_t capacity_;
};

}  // namespace hash_table
