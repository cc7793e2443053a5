// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies by which threads reserve places in the queue of the next level. Each is a type.
/// `allocate(count)` is collective over the block and returns the first of the thread's places.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <warden/allocate.cuh>

#include <cstdint>

namespace breadth_first {

/// Each thread that needs places uses one atomic.
class queue_by_threads {
 public:
  struct storage {};

  WARDEN_DEVICE queue_by_threads(std::uint64_t* end, storage&) : end_{end} {}
  WARDEN_DEVICE std::uint64_t allocate(std::uint32_t count) const {
    return count == 0 ? 0 : simt::fetch_add(end_, std::uint64_t{count});
  }

 private:
  std::uint64_t* end_;
};

/// One atomic for the lanes of a warp.
class queue_by_warps {
 public:
  struct storage {};

  WARDEN_DEVICE queue_by_warps(std::uint64_t* end, storage&) : end_{end} {}
  WARDEN_DEVICE std::uint64_t allocate(std::uint32_t count) const {
    if (!simt::any(simt::full_warp, count != 0)) return 0;
    return warden::allocate_in_warp(end_, simt::full_warp, count);
  }

 private:
  std::uint64_t* end_;
};

/// One atomic for the block, with a sum over its threads.
using queue_by_blocks = warden::block_allocator<search_threads>;

}  // namespace breadth_first
