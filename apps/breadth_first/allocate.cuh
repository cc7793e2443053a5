// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places in a common array for threads that need different numbers of them, in no order.
#pragma once

#include <warden/simt/collective.cuh>

#include <cstdint>

namespace breadth_first {

namespace simt = warden::simt;

/// A sum over the block and one atomic a call.
template <unsigned Threads>
class block_allocator {
  using sum = simt::block_scan<Threads, true>;

 public:
  struct storage {
    typename sum::storage scan;
    std::uint64_t first;
  };

  WARDEN_DEVICE block_allocator(std::uint64_t* counter, storage& s)
      : counter_{counter}, storage_{s} {}

  /// Collective. The first of this thread's `count` places.
  WARDEN_DEVICE std::uint64_t allocate(std::uint32_t count) {
    std::uint32_t all;
    std::uint32_t const before = sum::exclusive_sum(storage_.scan, count, all);
    // Everybody has read what the call before left there: they have met in the sum.
    if (simt::thread_rank() == 0 && all != 0)
      simt::shared_store(storage_.first, simt::fetch_add(counter_, std::uint64_t{all}));
    simt::sync_block();
    return simt::shared_load(storage_.first) + before;
  }

 private:
  std::uint64_t* counter_;
  storage& storage_;
};

/// One atomic for the lanes of `mask`, all of which call it.
WARDEN_DEVICE std::uint64_t allocate_in_warp(std::uint64_t* counter, unsigned mask,
                                             std::uint32_t count) {
  std::uint32_t up_to = count;
  WARDEN_UNROLL
  for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
    unsigned const from = simt::lane_id() < distance ? simt::lane_id() : simt::lane_id() - distance;
    std::uint32_t const before = simt::shuffle(mask, up_to, from);
    if (simt::lane_id() >= distance) up_to += before;
  }
  std::uint32_t const all = simt::shuffle(mask, up_to, simt::warp_size - 1);
  std::uint64_t first = 0;
  if (simt::lane_id() == 0 && all != 0) first = simt::fetch_add(counter, std::uint64_t{all});
  return simt::shuffle(mask, first, 0) + up_to - count;
}

}  // namespace breadth_first
