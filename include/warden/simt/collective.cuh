// SPDX-License-Identifier: Apache-2.0
/// @file
/// Block-wide collectives: mostly CUB on a GPU, a plain loop on the simulated device.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#  include <cub/block/block_radix_sort.cuh>
#  include <cub/block/block_scan.cuh>
#  include <cub/warp/warp_scan.cuh>
#else
#  include <algorithm>
#endif

WARDEN_NAMESPACE_BEGIN
namespace simt {

/// Exclusive prefix sums over the threads of a block of `Threads` threads, a multiple of 32, in
/// blocks of any dimensions. `T` is an unsigned integer of 32 or 64 bits. Each warp adds up the
/// sums of all warps at once, in fewer instructions than a small `block_scan`.
template <unsigned Threads, class T = std::uint32_t>
class block_scan_by_warps {
  static constexpr unsigned warps = Threads / warp_size;
  static_assert(Threads % warp_size == 0 && warps <= warp_size);

 public:
  /// Shared memory of one scan at a time.
  struct storage {
#if defined(__CUDACC__)
    T sums[warps];  ///< [warp]
#else
    T values[Threads];
    T total;
#endif
  };

  /// Collective, with a barrier. Returns the sum over the threads before this one; `total` gets the
  /// sum over all. A block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, std::type_identity_t<T> value,
                                       T& total) {
#if defined(__CUDACC__)
    using scan = cub::WarpScan<T>;  // takes no memory
    typename scan::TempStorage none;
    T sum;
    scan{none}.InclusiveSum(value, sum);
    if (lane_id() == warp_size - 1) temporary.sums[warp_rank()] = sum;
    sync_block();
    T const of_warp = lane_id() < warps ? temporary.sums[lane_id()] : 0;
    total = warp_sum(of_warp);
    return sum - value + warp_sum(lane_id() < warp_rank() ? of_warp : 0);
#else
    begin_collective(&temporary);
    temporary.values[thread_rank()] = value;
    sync_block();
    if (thread_rank() == 0) {
      T sum = 0;
      for (T& v : temporary.values) {
        T const own = v;
        v = sum;
        sum += own;
      }
      temporary.total = sum;
    }
    sync_block();
    end_collective(&temporary);
    total = temporary.total;
    return temporary.values[thread_rank()];
#endif
  }
};

/// Exclusive prefix sums by CUB over the threads of a block of `Threads` threads in one dimension.
/// A `Small` one takes some bytes of shared memory a warp, in place of some a thread. `T` is an
/// unsigned integer.
template <unsigned Threads, bool Small = false, class T = std::uint32_t>
class block_scan {
#if defined(__CUDACC__)
  using scan = cub::BlockScan<T, static_cast<int>(Threads),
                              Small ? cub::BLOCK_SCAN_WARP_SCANS : cub::BLOCK_SCAN_RAKING>;
#else
  using scan = block_scan_by_warps<Threads, T>;
#endif

 public:
  /// Shared memory of one scan at a time.
#if defined(__CUDACC__)
  using storage = typename scan::TempStorage;
#else
  using storage = typename scan::storage;
#endif

  /// Collective, with a barrier. Returns the sum over the threads before this one; `total` gets the
  /// sum over all. A block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, std::type_identity_t<T> value,
                                       T& total) {
    assume_linear_block();  // CUB numbers threads by x alone
#if defined(__CUDACC__)
    T before;
    scan{temporary}.ExclusiveSum(value, before, total);
    return before;
#else
    return scan::exclusive_sum(temporary, value, total);
#endif
  }
};

/// Prefixes over the threads of a block of `Threads` threads by any associative operation. Values
/// may be large, so a thread holds only two of them at a time: warps scan in shared memory, and
/// each folds what the warps before it left. (CUB's scans hold a value's words for several
/// threads.)
template <class T, unsigned Threads>
class block_scan_by {
 public:
  /// Shared memory of one scan at a time.
  struct storage {
    T values[Threads];  ///< [thread]
  };

  /// Collective. Returns `operation(...operation(v0, v1)..., v)` over the values of the threads
  /// before this one, in their order; what thread 0 gets means nothing. A block barrier must pass
  /// before `temporary` is used again.
  template <class Operation>
  WARDEN_DEVICE static T exclusive(storage& temporary, T value, Operation operation) {
    unsigned const me = thread_rank(), lane = lane_id();
    begin_collective(&temporary);
    temporary.values[me] = value;
    WARDEN_NO_UNROLL
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
      sync_warp(full_warp);
      if (lane >= distance) value = operation(temporary.values[me - distance], value);
      sync_warp(full_warp);
      if (lane >= distance) temporary.values[me] = value;
    }
    sync_block();
    end_collective(&temporary);
    if (me == 0) return value;
    if (me < warp_size) return temporary.values[me - 1];
    T earlier = temporary.values[warp_size - 1];
    WARDEN_NO_UNROLL
    for (unsigned last = 2 * warp_size - 1; last < me; last += warp_size)
      earlier = operation(earlier, temporary.values[last]);
    return lane == 0 ? earlier : operation(earlier, temporary.values[me - 1]);
  }
};

/// Sorts `Items` words of each thread of a block of `Threads` threads in one dimension.
template <unsigned Threads, unsigned Items>
class block_sort {
 public:
#if defined(__CUDACC__)
  /// Shared memory of one sort at a time.
  using storage = typename cub::BlockRadixSort<std::uint32_t, static_cast<int>(Threads),
                                               static_cast<int>(Items)>::TempStorage;
#else
  struct storage {
    std::uint32_t words[Threads * Items];
  };
#endif

  /// Collective. Sorts by the bits `first_bit` to `end_bit - 1`, at least one, and keeps the order
  /// of words that agree in them. Thread t's words are those from `t * Items` on, before and
  /// after. A block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static void sort(storage& temporary, std::uint32_t (&words)[Items],
                                 unsigned first_bit, unsigned end_bit) {
    assume_linear_block();  // as in block_scan
#if defined(__CUDACC__)
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
