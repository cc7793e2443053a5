// SPDX-License-Identifier: Apache-2.0
/// @file
/// Prefix sums over the threads of a block: as in CUB on a GPU, by a plain loop on the simulated
/// device. CUB's own headers take longer to compile than all of Warden's.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARDEN_NAMESPACE_BEGIN
namespace simt {

#if defined(WARDEN_GPU)
/// Returns the lane of this thread, from the register that holds it.
WARDEN_DEVICE unsigned lane_register() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
/// Returns the sum over the lanes up to this one, itself included. Collective over the warp.
template <class T>
WARDEN_DEVICE T warp_inclusive_sum(T value) {
  WARDEN_UNROLL
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
      // The shuffle's predicate is false in lanes without a source, which saves a comparison.
      T sum;
      asm volatile(
          "{"
          "  .reg .u32 r0;"
          "  .reg .pred p;"
          "  shfl.sync.up.b32 r0|p, %1, %2, %3, %5;"
          "  @p add.u32 r0, r0, %4;"
          "  mov.u32 %0, r0;"
          "}"
          : "=r"(sum)
          : "r"(value), "r"(distance), "r"(0), "r"(value), "r"(full_warp));
      value = sum;
    } else {
      T const before = __shfl_up_sync(full_warp, value, distance);
      if (lane_register() >= distance) value += before;
    }
  }
  return value;
}
#endif

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
#if defined(WARDEN_GPU)
    T sums[warps];  ///< [warp]
#else
    T values[Threads];
    T total;
#endif
  };

  /// Returns the sum over the threads before this one; `total` gets the sum over all. Collective,
  /// with a barrier. A block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, std::type_identity_t<T> value,
                                       T& total) {
#if defined(WARDEN_GPU)
    T const sum = warp_inclusive_sum(value);
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

#if defined(WARDEN_GPU)
namespace detail {
/// Exclusive prefix sums by the first warp, each of whose threads adds up a segment of the values.
/// Compiles to the instructions of cub::BlockScan with BLOCK_SCAN_RAKING.
template <unsigned Threads, class T>
class raking_scan {
  static constexpr unsigned segment = Threads / warp_size;
  /// Odd for a segment of more than 2 values, so that the warp's accesses have no bank conflict.
  static constexpr unsigned pitch = segment > 2 && segment % 2 == 0 ? segment + 1 : segment;
  static_assert(Threads % warp_size == 0);

 public:
  /// Shared memory of one scan at a time.
  struct storage {
    alignas(16) unsigned char unused[16];  ///< keeps the addresses of CUB's
    T values[warp_size * pitch];           ///< [thread of the first warp][place in its segment]
    T total;                               ///< sum of all values
  };

  /// See block_scan.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, T value, T& total) {
    unsigned const me = thread_rank();
    if constexpr (segment == 1) {
      T const sum = warp_inclusive_sum(value);
      total = __shfl_sync(full_warp, sum, warp_size - 1);
      return sum - value;
    } else {
      T& place = temporary.values[pitch == segment ? me : me + me / segment];
      place = value;
      sync_block();
      if (me < warp_size) {
        T* const mine = temporary.values + me * pitch;
        T own[segment];
        WARDEN_UNROLL
        for (unsigned i = 0; i < segment; ++i) own[i] = mine[i];
        T const of_segment = [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
          return (... + own[I]);
        }
        (std::make_integer_sequence<unsigned, segment>{});
        T const sum = warp_inclusive_sum(of_segment);
        T const all = __shfl_sync(full_warp, sum, warp_size - 1);
        T before = sum - of_segment;
        // Read again, because values held during the scan would take registers of the kernel.
        WARDEN_UNROLL
        for (unsigned i = 0; i < segment; ++i) own[i] = mine[i];
        WARDEN_UNROLL
        for (unsigned i = 0; i < segment; ++i) {
          T const next = before + own[i];
          own[i] = before;
          before = next;
        }
        WARDEN_UNROLL
        for (unsigned i = 0; i < segment; ++i) mine[i] = own[i];
        if (me == 0) temporary.total = all;
      }
      sync_block();
      total = temporary.total;
      return place;
    }
  }
};
/// Exclusive prefix sums by warps, each of which adds up the sums of the warps one by one, as
/// cub::BlockScan with BLOCK_SCAN_WARP_SCANS does.
template <unsigned Threads, class T>
class small_scan {
  static constexpr unsigned warps = Threads / warp_size;
  static_assert(Threads % warp_size == 0);

 public:
  /// Shared memory of one scan at a time.
  struct storage {
    alignas(32) T sums[warps];  ///< [warp]
  };

  /// See block_scan.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, T value, T& total) {
    unsigned const warp = thread_rank() / warp_size, lane = lane_register();
    T const sum = warp_inclusive_sum(value);
    if (lane == warp_size - 1) temporary.sums[warp] = sum;
    sync_block();
    T before = 0;
    total = temporary.sums[0];
    WARDEN_UNROLL
    for (unsigned w = 1; w < warps; ++w) {
      if (warp == w) before = total;
      total += temporary.sums[w];
    }
    return before + (sum - value);
  }
};
}  // namespace detail
#endif

/// Exclusive prefix sums over the threads of a block of `Threads` threads in one dimension, as
/// cub::BlockScan computes them. A `Small` one takes a few bytes of shared memory for each warp,
/// instead of for each thread. `T` is an unsigned integer.
template <unsigned Threads, bool Small = false, class T = std::uint32_t>
class block_scan {
#if defined(WARDEN_GPU)
  using scan =
      std::conditional_t<Small, detail::small_scan<Threads, T>, detail::raking_scan<Threads, T>>;
#else
  using scan = block_scan_by_warps<Threads, T>;
#endif

 public:
  /// Shared memory of one scan at a time.
  using storage = typename scan::storage;

  /// Returns the sum over the threads before this one; `total` gets the sum over all. Collective,
  /// with a barrier. A block barrier must pass before `temporary` is used again.
  WARDEN_DEVICE static T exclusive_sum(storage& temporary, std::type_identity_t<T> value,
                                       T& total) {
    assume_linear_block();  // threads are numbered by x alone
    return scan::exclusive_sum(temporary, value, total);
  }
};

/// Prefixes over the threads of a block of `Threads` threads by any associative operation. Values
/// may be large, so a thread holds only two of them at a time: warps scan in shared memory, and
/// each adds the result of the warps before it. CUB's scans hold the words of several values.
template <class T, unsigned Threads>
class block_scan_by {
 public:
  /// Shared memory of one scan at a time.
  struct storage {
    T values[Threads];  ///< [thread]
  };

  /// Returns `operation(...operation(v0, v1)..., v)` over the values of the threads before this
  /// one, in their order; the result of thread 0 is meaningless. Collective. A block barrier must
  /// pass before `temporary` is used again.
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

}  // namespace simt
WARDEN_NAMESPACE_END
