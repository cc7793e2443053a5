// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sorting by a block: CUB on a GPU, std::stable_sort on the simulated device.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

#if defined(WARDEN_GPU)
#  include <cub/block/block_radix_sort.cuh>
#else
#  include <algorithm>
#endif

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Sorts `Items` words of each thread of a block of `Threads` threads in one dimension.
template <unsigned Threads, unsigned Items>
class block_sort {
 public:
#if defined(WARDEN_GPU)
  /// Shared memory of one sort at a time.
  using storage = typename cub::BlockRadixSort<std::uint32_t, static_cast<int>(Threads),
                                               static_cast<int>(Items)>::TempStorage;
#else
  struct storage {
    std::uint32_t words[Threads * Items];
  };
#endif

  /// Sorts by the bits `first_bit` to `end_bit - 1`, at least one, stably. Collective. Thread t's
  /// words are those from `t * Items` on, before and after the sort. A block barrier must pass
  /// before `temporary` is used again.
  WARDEN_DEVICE static void sort(storage& temporary, std::uint32_t (&words)[Items],
                                 unsigned first_bit, unsigned end_bit) {
    assume_linear_block();  // CUB numbers threads by x alone
#if defined(WARDEN_GPU)
    cub::BlockRadixSort<std::uint32_t, static_cast<int>(Threads), static_cast<int>(Items)>{
        temporary}
        .Sort(words, static_cast<int>(first_bit), static_cast<int>(end_bit));
#else
    begin_collective(&temporary);
    std::uint32_t* const mine = temporary.words + thread_rank() * Items;
    std::copy_n(words, Items, mine);
    sync_block();
    if (thread_rank() == 0) {
      auto const mask = static_cast<std::uint32_t>((std::uint64_t{1} << end_bit) -
                                                   (std::uint64_t{1} << first_bit));
      std::stable_sort(
          temporary.words, temporary.words + Threads * Items,
          [mask](std::uint32_t a, std::uint32_t b) { return (a & mask) < (b & mask); });
    }
    sync_block();
    end_collective(&temporary);
    std::copy_n(mine, Items, words);
#endif
  }
};

}  // namespace simt
WARDEN_NAMESPACE_END
