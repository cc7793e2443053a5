// SPDX-License-Identifier: Apache-2.0
// CUDA's barriers, warp functions and bit counts on the simulated device. As in CUDA, they do not
// wait for lanes of a mask that have ended, or that a short last warp lacks.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated.cuh>

#include <bit>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
/// Helpers of cuda_names, in a namespace of their own: cuda_names adds no name that CUDA does not
/// have.
namespace cuda_detail {

using sim::device::barrier;
using sim::device::collective;
using sim::device::site;

inline int lane() { return static_cast<int>(simt::lane_id()); }

/// Small integers are passed as int, as CUDA's overload resolution does.
template <class T>
using word = decltype(+T{});

/// A barrier is one place in the source, as in CUDA.
inline unsigned meet(barrier kind, bool value, site const& where) {
  return sim::device::sync_block(kind, value, sim::device::coming::from_one_place, where);
}
inline unsigned vote(unsigned mask, bool value, site const& where) {
  return static_cast<unsigned>(
      sim::device::warp(collective::ballot, mask, value, 0, sim::device::lanes::not_ended, where));
}
template <class T>
word<T> from_lane(collective kind, unsigned mask, T value, int source, site const& where) {
  return simt::detail::from_bits<word<T>>(
      sim::device::warp(kind, mask, simt::detail::to_bits<word<T>>(value),
                        static_cast<unsigned>(source), sim::device::lanes::not_ended, where));
}

template <class T>
concept number = std::is_arithmetic_v<T>;

}  // namespace cuda_detail

namespace cuda_names {

// ---- the block

inline void __syncthreads(cuda_detail::site where = cuda_detail::site::current()) {
  cuda_detail::meet(cuda_detail::barrier::plain, false, where);
}
inline int __syncthreads_or(int value, cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::meet(cuda_detail::barrier::any, value != 0, where) != 0;
}
inline int __syncthreads_and(int value, cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::meet(cuda_detail::barrier::all, value == 0, where) == 0;
}
inline int __syncthreads_count(int value, cuda_detail::site where = cuda_detail::site::current()) {
  return static_cast<int>(cuda_detail::meet(cuda_detail::barrier::count, value != 0, where));
}

// ---- the warp

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       cuda_detail::site where = cuda_detail::site::current()) {
  sim::device::warp(cuda_detail::collective::sync, mask, 0, 0, sim::device::lanes::not_ended,
                    where);
}
inline unsigned __ballot_sync(unsigned mask, int value,
                              cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::vote(mask, value != 0, where);
}
inline int __any_sync(unsigned mask, int value,
                      cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::vote(mask, value != 0, where) != 0;
}
inline int __all_sync(unsigned mask, int value,
                      cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::vote(mask, value == 0, where) == 0;
}
/// CUDA promises only that the caller is in the mask.
inline unsigned __activemask(cuda_detail::site where = cuda_detail::site::current()) {
  return sim::device::active_mask(where);
}
template <cuda_detail::number T>
unsigned __match_any_sync(unsigned mask, T value,
                          cuda_detail::site where = cuda_detail::site::current()) {
  return static_cast<unsigned>(sim::device::warp(cuda_detail::collective::match, mask,
                                                 simt::detail::to_bits<cuda_detail::word<T>>(value),
                                                 0, sim::device::lanes::not_ended, where));
}

// A warp is cut into pieces of `width` lanes, a power of two.

template <cuda_detail::number T>
cuda_detail::word<T> __shfl_sync(unsigned mask, T value, int source, int width = 32,
                                 cuda_detail::site where = cuda_detail::site::current()) {
  int const in_piece = width - 1;
  return cuda_detail::from_lane(cuda_detail::collective::shuffle, mask, value,
                                (cuda_detail::lane() & ~in_piece) | (source & in_piece), where);
}
template <cuda_detail::number T>
cuda_detail::word<T> __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                    cuda_detail::site where = cuda_detail::site::current()) {
  int const lane = cuda_detail::lane(), source = lane - static_cast<int>(distance);
  bool const inside = source >= (lane & ~(width - 1));
  return cuda_detail::from_lane(cuda_detail::collective::shift, mask, value, inside ? source : lane,
                                where);
}
template <cuda_detail::number T>
cuda_detail::word<T> __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32,
                                      cuda_detail::site where = cuda_detail::site::current()) {
  int const lane = cuda_detail::lane(), source = lane + static_cast<int>(distance);
  bool const inside = source <= (lane | (width - 1));
  return cuda_detail::from_lane(cuda_detail::collective::shift, mask, value, inside ? source : lane,
                                where);
}
template <cuda_detail::number T>
cuda_detail::word<T> __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                                     cuda_detail::site where = cuda_detail::site::current()) {
  int const lane = cuda_detail::lane(), source = lane ^ lanes;
  bool const inside = source <= (lane | (width - 1));
  return cuda_detail::from_lane(cuda_detail::collective::shuffle, mask, value,
                                inside ? source : lane, where);
}

// ---- arithmetic

inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline unsigned long long __brevll(unsigned long long value) {
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (value >> bit & 1u) << (63 - bit);
  return reversed;
}
inline unsigned __brev(unsigned value) { return static_cast<unsigned>(__brevll(value) >> 32); }

template <cuda_detail::number A, cuda_detail::number B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using both = std::common_type_t<A, B>;
  return static_cast<both>(b) < static_cast<both>(a) ? static_cast<both>(b) : static_cast<both>(a);
}
template <cuda_detail::number A, cuda_detail::number B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using both = std::common_type_t<A, B>;
  return static_cast<both>(a) < static_cast<both>(b) ? static_cast<both>(b) : static_cast<both>(a);
}

}  // namespace cuda_names
WARDEN_NAMESPACE_END
