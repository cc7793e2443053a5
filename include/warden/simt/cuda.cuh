// SPDX-License-Identifier: Apache-2.0
// The platform layer on a CUDA GPU. See simt.cuh for the list of functions. No function has a
// hidden fence. Atomics are relaxed at device scope unless the name says otherwise.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/arena.hpp>
#include <warden/simt/cuda_global.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

inline constexpr unsigned full_warp = 0xffffffffu;
inline constexpr int warp_size = 32;

// ---- identity

// Blocks and grids have any dimensions; x counts first, as in the numbering of warps.
WARDEN_DEVICE unsigned thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WARDEN_DEVICE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
WARDEN_DEVICE unsigned lane_id() { return thread_rank() % warp_size; }
WARDEN_DEVICE unsigned warp_rank() { return thread_rank() / warp_size; }
/// Returns the dimensions of the block, 16 bits each: x in the lowest bits, then y, then z.
WARDEN_DEVICE std::uint64_t block_shape() {
  return std::uint64_t{blockDim.z} << 32 | blockDim.y << 16 | blockDim.x;
}
WARDEN_DEVICE unsigned block_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
WARDEN_DEVICE unsigned block_count() { return gridDim.x * gridDim.y * gridDim.z; }
/// Precondition: the block has one dimension. The compiler then numbers threads by x alone.
WARDEN_DEVICE void assume_linear_block() {
  __builtin_assume(threadIdx.y == 0);
  __builtin_assume(threadIdx.z == 0);
  __builtin_assume(blockDim.y == 1);
  __builtin_assume(blockDim.z == 1);
}
/// Precondition: block and grid have one dimension. A kernel that begins with this call takes fewer
/// instructions, and fewer registers if it holds many values.
WARDEN_DEVICE void assume_one_dimension() {
  assume_linear_block();
  __builtin_assume(blockIdx.y == 0);
  __builtin_assume(blockIdx.z == 0);
  __builtin_assume(gridDim.y == 1);
  __builtin_assume(gridDim.z == 1);
}
WARDEN_DEVICE unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Returns `value`. Optimization barrier: the compiler knows nothing of the result. This stops it
/// from cloning the following code for each branch, which would keep the warp diverged.
WARDEN_DEVICE unsigned unknown(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}

// ---- block and warp collectives

WARDEN_DEVICE void sync_block() { __syncthreads(); }
WARDEN_DEVICE bool sync_block_or(bool value) { return __syncthreads_or(value) != 0; }
WARDEN_DEVICE void sync_warp(unsigned mask) { __syncwarp(mask); }
WARDEN_DEVICE unsigned ballot(unsigned mask, bool value) { return __ballot_sync(mask, value); }
WARDEN_DEVICE bool any(unsigned mask, bool value) { return __any_sync(mask, value) != 0; }
template <class T>
WARDEN_DEVICE T shuffle(unsigned mask, T value, unsigned source_lane) {
  return __shfl_sync(mask, value, static_cast<int>(source_lane));
}
/// Returns the lanes of `mask` that passed the same value (32 or 64 bits).
template <class T>
WARDEN_DEVICE unsigned match_any(unsigned mask, T value) {
  return __match_any_sync(mask, value);
}
/// A place in the source, which only the simulated device uses.
struct site {
  WARDEN_HOST_DEVICE static constexpr site current() { return {}; }
};
/// One plain load of an object of up to 16 bytes. Precondition: the address is aligned to its size.
template <class T>
WARDEN_DEVICE T load_plain(T const* address, site) {
  static_assert(sizeof(T) <= 16 && alignof(T) == sizeof(T));
  return *address;
}
/// Synchronizes the lanes that run a section together. Precondition: all lanes of `mask` call it,
/// from one place of the source.
WARDEN_DEVICE void group_sync(unsigned mask, site) { __syncwarp(mask); }
WARDEN_DEVICE unsigned group_ballot(unsigned mask, bool value, site) { return ballot(mask, value); }
template <class T>
WARDEN_DEVICE T group_shuffle(unsigned mask, T value, unsigned source_lane, site) {
  return shuffle(mask, value, source_lane);
}
template <class T>
WARDEN_DEVICE unsigned group_match(unsigned mask, T value, site) {
  return match_any(mask, value);
}
/// Returns the lanes with the same value. Precondition: values are below `Limit`. Faster than
/// `match_any` if values have few bits and differ.
template <unsigned Limit>
WARDEN_DEVICE unsigned match_below(unsigned mask, unsigned value) {
  unsigned lanes = mask;
#pragma unroll
  for (unsigned k = 0; k < 32 && 1u << k < Limit; ++k) {
    // As PTX it takes 4 instructions for each bit, from C++ 7: two predicates of the same bit.
    unsigned others, own;
    asm volatile(
        "{\n\t"
        ".reg .pred is;\n\t"
        ".reg .b32 one;\n\t"
        "and.b32 one, %1, %2;\n\t"
        "setp.ne.u32 is, one, 0;\n\t"
        "vote.sync.ballot.b32 %0, is, %3;\n\t"
        "}"
        : "=r"(others)
        : "r"(value), "r"(1u << k), "r"(mask));
    asm("bfe.s32 %0, %1, %2, 1;" : "=r"(own) : "r"(value), "r"(k));
    lanes &= ~(others ^ own);
  }
  return lanes;
}
/// Returns the sum of the values of a whole warp, modulo 2^32.
WARDEN_DEVICE unsigned warp_sum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, value);
#else
  for (int distance = warp_size / 2; distance != 0; distance /= 2)
    value += __shfl_xor_sync(full_warp, value, distance);
  return value;
#endif
}
/// Returns the sum of 64-bit values of a whole warp, modulo 2^64.
WARDEN_DEVICE std::uint64_t warp_sum(std::uint64_t value) {
  // Adds up parts whose sums have 32 bits.
  constexpr unsigned bits = 27, low = (1u << bits) - 1;
  std::uint64_t sum = warp_sum(static_cast<unsigned>(value) & low);
  sum += std::uint64_t{warp_sum(static_cast<unsigned>(value >> bits) & low)} << bits;
  return sum + (std::uint64_t{warp_sum(static_cast<unsigned>(value >> 2 * bits))} << 2 * bits);
}
/// Returns the smallest value of a whole warp.
WARDEN_DEVICE unsigned warp_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(full_warp, value);
#else
  for (int distance = warp_size / 2; distance != 0; distance /= 2) {
    unsigned const other = __shfl_xor_sync(full_warp, value, distance);
    value = other < value ? other : value;
  }
  return value;
#endif
}
WARDEN_DEVICE int count_bits(unsigned value) { return __popc(value); }
/// Returns the sum of the four bytes of a word.
WARDEN_DEVICE unsigned sum_of_bytes(unsigned word) { return __dp4a(word, 0x01010101u, 0u); }
WARDEN_DEVICE int first_bit(unsigned value) { return __ffs(static_cast<int>(value)) - 1; }
WARDEN_DEVICE int last_bit(unsigned value) { return 31 - __clz(static_cast<int>(value)); }
WARDEN_DEVICE std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  return __umul64hi(a, b);
}
WARDEN_DEVICE std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return __umulhi(a, b);
}

// ---- fences

WARDEN_DEVICE void fence_device() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
WARDEN_DEVICE void fence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

// ---- shared memory

/// A piece of the launch's shared memory: a pointer on the GPU, checked on the simulated device.
template <class T>
class shared_span {
 public:
  shared_span() = default;
  WARDEN_DEVICE shared_span(T* data, unsigned size) : data_{data}, size_{size} {}
  WARDEN_DEVICE T& operator[](unsigned index) const { return data_[index]; }
  WARDEN_DEVICE T* data() const { return data_; }
  WARDEN_DEVICE unsigned size() const { return size_; }

 private:
  T* data_;
  unsigned size_;
};

/// Returns the launch's whole dynamic shared memory, aligned to `arena_alignment`, uninitialized.
WARDEN_DEVICE std::byte* dynamic_shared() {
  extern __shared__ __align__(arena_alignment) unsigned char warden_arena[];
  return reinterpret_cast<std::byte*>(warden_arena);
}

/// Returns the same address, of which the compiler then knows that it is in shared memory. For
/// functions that are not inlined, which would otherwise use generic accesses.
template <class T>
WARDEN_DEVICE T* known_shared(T* address) {
  return static_cast<T*>(__cvta_shared_to_generic(__cvta_generic_to_shared(address)));
}

/// True if an address is in the block's shared memory.
WARDEN_DEVICE bool is_shared(void const* address) { return __isShared(address) != 0; }

template <class T>
WARDEN_DEVICE T shared_load(T const& place) {
  return *const_cast<T const volatile*>(&place);
}
template <class T>
WARDEN_DEVICE void shared_store(T& place, std::type_identity_t<T> value) {
  *const_cast<T volatile*>(&place) = value;
}
template <class T>
WARDEN_DEVICE T shared_fetch_add(T& place, std::type_identity_t<T> value) {
  using word = detail::atomic_word<T>;
  return static_cast<T>(atomicAdd_block(reinterpret_cast<word*>(&place), static_cast<word>(value)));
}
/// Sets bits, without a result.
WARDEN_DEVICE void shared_set_bits(std::uint32_t& place, std::uint32_t bits) {
  atomicOr_block(&place, bits);
}
template <class T>
WARDEN_DEVICE T shared_fetch_min(T& place, std::type_identity_t<T> value) {
  using word = detail::ordered_word<T>;
  return static_cast<T>(atomicMin_block(reinterpret_cast<word*>(&place), static_cast<word>(value)));
}
template <class T>
WARDEN_DEVICE T shared_exchange(T& place, std::type_identity_t<T> value) {
  using word = detail::atomic_word<T>;
  return static_cast<T>(
      atomicExch_block(reinterpret_cast<word*>(&place), static_cast<word>(value)));
}
template <class T>
WARDEN_DEVICE T shared_compare_exchange(T& place, std::type_identity_t<T> expected,
                                        std::type_identity_t<T> value) {
  using word = detail::atomic_word<T>;
  return static_cast<T>(atomicCAS_block(reinterpret_cast<word*>(&place),
                                        static_cast<word>(expected), static_cast<word>(value)));
}

// ---- waiting and time

/// Waits until the kernel before this one in the stream has ended and its writes are visible. Then
/// lets the next kernel of the stream become resident, if it is launched early, too. Every thread
/// of a kernel with `launch_shape::early` calls it, before it reads or writes global memory.
WARDEN_DEVICE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Returns the nanoseconds of a clock that all multiprocessors share.
WARDEN_DEVICE std::uint64_t nanoseconds() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

/// Returns the cycles of this multiprocessor's clock. Clocks of different multiprocessors are
/// unrelated.
WARDEN_DEVICE std::uint64_t cycles() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

/// Sleeps, the longer the more often a wait has already failed, up to about half a microsecond.
WARDEN_DEVICE void back_off(unsigned failures) {
  __nanosleep(failures < 5 ? 16u << failures : 512u);
}

/// Calls `predicate()` until it is true, with pauses. Calls `hopeful()` every 64 polls; once that
/// is false, the wait ends and returns false. `watch(f)` calls f(address) for the global or shared
/// words whose change can make the predicate true: the simulated device sleeps on them.
template <class Predicate, class Hopeful, class Watch>
WARDEN_DEVICE bool wait_until(Predicate predicate, Hopeful hopeful, Watch) {
  for (unsigned polls = 0;; ++polls) {
    if (predicate()) return true;
    if (polls % 64 == 63 && !hopeful()) return false;
    back_off(polls);
  }
}

// ---- operations that only the simulated device uses

WARDEN_DEVICE void section_enter(void const*, bool = true) {}
WARDEN_DEVICE void section_leave(void const*, bool = true) {}
WARDEN_DEVICE void group_enter(unsigned, void const*) {}
template <class Record, class Keeps>
WARDEN_DEVICE void group_enter(unsigned, void const*, Record const*, Keeps) {}
WARDEN_DEVICE void group_leave(unsigned, void const*) {}
template <class Record, class Keeps, class Run>
WARDEN_DEVICE void run_checked(Record const*, Keeps, Run run) {
  run();
}
WARDEN_DEVICE constexpr bool doubts() { return false; }
WARDEN_DEVICE void note_loop_order(void const*, std::uint32_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t, site) {}
WARDEN_DEVICE void begin_collective(void const*) {}
WARDEN_DEVICE void end_collective(void const*) {}
WARDEN_DEVICE void note_reservation(std::uint64_t) {}
WARDEN_DEVICE void note_lock_retry() {}
WARDEN_DEVICE void note_written(void const*) {}
WARDEN_DEVICE void demand_visible(void const*) {}

}  // namespace simt
WARDEN_NAMESPACE_END
