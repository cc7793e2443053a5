// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pool of overflow nodes: numbers 1 .. capacity, handed out once each and given back in any
/// order, by any thread of the device.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace hash_table {

namespace simt = warden::simt;

/// Freed numbers lie in one of many stacks, by the warp that frees: warps seldom meet at one.
inline constexpr std::uint32_t pool_stacks = 1024;

/// State of a pool in device memory; zero if nothing was taken.
struct pool_state {
  /// The number on top, and in the upper half how often that changed: a number that was taken and
  /// given back in between does not look untouched.
  struct alignas(32) stack {
    std::uint64_t top;
  };
  stack stacks[pool_stacks];
  alignas(128) std::uint32_t begun;  ///< numbers never taken begin here; may pass the capacity
};

/// Lock-free: no call waits for another thread.
class pool_ref {
 public:
  pool_ref() = default;
  /// `below[n - 1]` is the freed number below `n`. Both arrays are device memory.
  pool_ref(pool_state* state, std::uint32_t* below, std::uint32_t capacity)
      : state_{state}, below_{below}, capacity_{capacity} {}

  /// Returns a free number, or 0 if all are taken. (A number that is given back concurrently may be
  /// missed.)
  __device__ std::uint32_t take() const {
    std::uint32_t const mine = stack_of_warp();
    std::uint32_t number = pop(mine);
    if (number != 0) return number;
    // Asked first, so that a full pool's count does not run on.
    if (simt::load_relaxed(&state_->begun) < capacity_) {
      std::uint32_t const fresh = simt::fetch_add(&state_->begun, 1u);
      if (fresh < capacity_) return fresh + 1;
    }
    for (std::uint32_t other = 1; other < pool_stacks && number == 0; ++other)
      number = pop((mine + other) % pool_stacks);
    return number;
  }

  /// The caller has `number` and touches what belongs to it no more.
  __device__ void give(std::uint32_t number) const {
    std::uint64_t* const place = &state_->stacks[stack_of_warp()].top;
    std::uint64_t top = simt::load_relaxed(place);
    while (true) {
      simt::store_relaxed(&below_[number - 1], static_cast<std::uint32_t>(top));
      // Release: what the caller did with the number's node, and the store above, come before.
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
      // Acquire: `give` fenced between its store of `below` and the exchange that we have seen.
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
