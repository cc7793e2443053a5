// SPDX-License-Identifier: Apache-2.0
// CUDA's atomics, fences and loads with a cache hint on the simulated device, for CUDA's types
// only, so that code that compiles here compiles there.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated.cuh>

#include <concepts>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
/// Helpers of cuda_names, in a namespace of their own: cuda_names adds no name that CUDA does not
/// have.
namespace cuda_detail {

using sim::device::site;

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);
template <class T>
concept bits = one_of<T, int, unsigned, unsigned long long>;

/// Performs an atomic on shared or global memory. Returns the old value.
template <class T, class Change>
T atomic(T* address, site const& where, Change change) {
  if (sim::device::is_shared(address)) return simt::detail::shared_atomic(*address, where, change);
  return simt::detail::global_atomic(address, where, change);
}
/// Integers wrap.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(a) + static_cast<word>(b));
  } else {
    return a + b;
  }
}

template <class T>
T load(T const* address, site const& where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  T value;
  sim::device::load(address, &value, sizeof(T), false, where);
  return value;
}

}  // namespace cuda_detail

namespace cuda_names {

// ---- atomics: relaxed

template <cuda_detail::one_of<int, unsigned, unsigned long long, float, double> T>
T atomicAdd(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return cuda_detail::sum(old, value); });
}
template <cuda_detail::one_of<int, unsigned> T>
T atomicSub(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) {
    return static_cast<T>(static_cast<unsigned>(old) - static_cast<unsigned>(value));
  });
}
template <cuda_detail::one_of<int, unsigned, unsigned long long, float> T>
T atomicExch(T* address, std::type_identity_t<T> value,
             cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T) { return value; });
}
template <cuda_detail::bits T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  if (sim::device::is_shared(address))
    return simt::shared_compare_exchange(*address, expected, value, where);
  return simt::compare_exchange(address, expected, value, where);
}
template <cuda_detail::one_of<int, unsigned, long long, unsigned long long> T>
T atomicMin(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return value < old ? value : old; });
}
template <cuda_detail::one_of<int, unsigned, long long, unsigned long long> T>
T atomicMax(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return old < value ? value : old; });
}
template <cuda_detail::one_of<unsigned> T>
T atomicInc(T* address, std::type_identity_t<T> limit,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return old >= limit ? 0 : old + 1; });
}
template <cuda_detail::one_of<unsigned> T>
T atomicDec(T* address, std::type_identity_t<T> limit,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where,
                             [&](T old) { return old == 0 || old > limit ? limit : old - 1; });
}
template <cuda_detail::bits T>
T atomicAnd(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return old & value; });
}
template <cuda_detail::bits T>
T atomicOr(T* address, std::type_identity_t<T> value,
           cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return old | value; });
}
template <cuda_detail::bits T>
T atomicXor(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic(address, where, [&](T old) { return old ^ value; });
}

// ---- fences: sequentially consistent, as CUDA's

inline void __threadfence(cuda_detail::site where = cuda_detail::site::current()) {
  sim::device::fence_device_in_order(where);
}
inline void __threadfence_block(cuda_detail::site where = cuda_detail::site::current()) {
  sim::device::fence_block_in_order(where);
}
/// Same as the device's fence, because nothing is outside the simulated device.
inline void __threadfence_system(cuda_detail::site where = cuda_detail::site::current()) {
  sim::device::fence_device_in_order(where);
}

// ---- loads and stores that the simulated device sees: relaxed, up to 16 bytes

template <class T>
T __ldg(T const* address, cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::load(address, where);
}
template <class T>
T __ldcg(T const* address, cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::load(address, where);
}
template <class T>
T __ldcv(T const* address, cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::load(address, where);
}
template <class T>
void __stcg(T* address, std::type_identity_t<T> value,
            cuda_detail::site where = cuda_detail::site::current()) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  sim::device::store(address, &value, sizeof(T), sim::device::storing::relaxed, where);
}

}  // namespace cuda_names
WARDEN_NAMESPACE_END
