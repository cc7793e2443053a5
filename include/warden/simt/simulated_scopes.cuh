// SPDX-License-Identifier: Apache-2.0
// CUDA's atomics of a block or of the system, compare-and-swap of 2 and 16 bytes, further cache
// hints, and warp functions made of simpler ones, on the simulated device.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>
#include <warden/simt/simulated_atomics.cuh>
#include <warden/simt/simulated_warp.cuh>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace cuda_detail {

/// An atomic on at most 16 bytes: `change(old)` returns true if it changed its argument.
template <class T, class Change>
T atomic_bytes(T* address, site const& where, Change change) {
  if (sim::device::is_shared(address)) {
    sim::device::begin_shared_atomic(address, sizeof(T), where);
  } else {
    sim::device::begin_atomic(address, sizeof(T), where);
  }
  T old, value;
  std::memcpy(&old, address, sizeof(T));
  std::memcpy(&value, &old, sizeof(T));
  bool const changed = change(value);
  if (changed) std::memcpy(address, &value, sizeof(T));
  sim::device::end_atomic(address, sizeof(T), changed);
  return old;
}

template <class T>
T compare_exchange_bytes(T* address, T const& expected, T const& desired, site const& where) {
  return atomic_bytes(address, where, [&](T& value) {
    if (std::memcmp(&value, &expected, sizeof(T)) != 0) return false;
    value = desired;
    return true;
  });
}

/// Reduces the values of the lanes that come.
template <class T, class Join>
T reduce(unsigned mask, T value, site const& where, Join join) {
  unsigned const came = vote(mask, true, where);
  T all = value;
  bool first = true;
  for (int from = 0; from < 32; ++from) {
    if ((came >> from & 1u) == 0) continue;
    T const other = from_lane(collective::shuffle, mask, value, from, where);
    all = first ? other : join(all, other);
    first = false;
  }
  return all;
}

}  // namespace cuda_detail

namespace cuda_names {

// ---- atomics of a scope: this device has one scope for all

#define WARDEN_SCOPED(name)                                                 \
  template <class T>                                                        \
  T name##_block(T* address, std::type_identity_t<T> value,                 \
                 cuda_detail::site where = cuda_detail::site::current()) {  \
    return name(address, value, where);                                     \
  }                                                                         \
  template <class T>                                                        \
  T name##_system(T* address, std::type_identity_t<T> value,                \
                  cuda_detail::site where = cuda_detail::site::current()) { \
    return name(address, value, where);                                     \
  }
WARDEN_SCOPED(atomicAdd)
WARDEN_SCOPED(atomicSub)
WARDEN_SCOPED(atomicExch)
WARDEN_SCOPED(atomicMin)
WARDEN_SCOPED(atomicMax)
WARDEN_SCOPED(atomicInc)
WARDEN_SCOPED(atomicDec)
WARDEN_SCOPED(atomicAnd)
WARDEN_SCOPED(atomicOr)
WARDEN_SCOPED(atomicXor)
#undef WARDEN_SCOPED

// ---- compare and swap of 2 and 16 bytes

inline unsigned short atomicCAS(unsigned short* address, unsigned short expected,
                                unsigned short desired,
                                cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::compare_exchange_bytes(address, expected, desired, where);
}
template <class T>
requires(sizeof(T) == 16 && std::is_trivially_copyable_v<T>) T
    atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
              cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::compare_exchange_bytes(address, expected, desired, where);
}
template <class T>
requires(sizeof(T) == 16 && std::is_trivially_copyable_v<T>) T
    atomicExch(T* address, std::type_identity_t<T> desired,
               cuda_detail::site where = cuda_detail::site::current()) {
  return cuda_detail::atomic_bytes(address, where, [&](T& value) {
    value = desired;
    return true;
  });
}
template <class T>
T atomicCAS_block(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
                  cuda_detail::site where = cuda_detail::site::current()) {
  return atomicCAS(address, expected, desired, where);
}
template <class T>
T atomicCAS_system(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
                   cuda_detail::site where = cuda_detail::site::current()) {
  return atomicCAS(address, expected, desired, where);
}

// ---- loads and stores with a cache hint

#define WARDEN_LOAD(name)                                                            \
  template <class T>                                                                 \
  T name(T const* address, cuda_detail::site where = cuda_detail::site::current()) { \
    return cuda_detail::load(address, where);                                        \
  }
WARDEN_LOAD(__ldca)
WARDEN_LOAD(__ldcs)
WARDEN_LOAD(__ldlu)
#undef WARDEN_LOAD
#define WARDEN_STORE(name)                                            \
  template <class T>                                                  \
  void name(T* address, std::type_identity_t<T> value,                \
            cuda_detail::site where = cuda_detail::site::current()) { \
    __stcg(address, value, where);                                    \
  }
WARDEN_STORE(__stwb)
WARDEN_STORE(__stcs)
WARDEN_STORE(__stwt)
#undef WARDEN_STORE

// ---- warp functions

template <cuda_detail::number T>
unsigned __match_all_sync(unsigned mask, T value, int* all,
                          cuda_detail::site where = cuda_detail::site::current()) {
  unsigned const came = cuda_detail::vote(mask, true, where);
  *all = __match_any_sync(mask, value, where) == came;
  return *all != 0 ? came : 0;
}
#define WARDEN_REDUCE(name, Type, expression)                                                 \
  template <cuda_detail::one_of<Type> T>                                                      \
  T name(unsigned mask, T value, cuda_detail::site where = cuda_detail::site::current()) {    \
    return cuda_detail::reduce(mask, value, where, [](T a, T b) -> T { return expression; }); \
  }
#define WARDEN_COMMA ,
WARDEN_REDUCE(__reduce_add_sync, unsigned WARDEN_COMMA int, cuda_detail::sum(a, b))
WARDEN_REDUCE(__reduce_min_sync, unsigned WARDEN_COMMA int, b < a ? b : a)
WARDEN_REDUCE(__reduce_max_sync, unsigned WARDEN_COMMA int, a < b ? b : a)
WARDEN_REDUCE(__reduce_and_sync, unsigned, a& b)
WARDEN_REDUCE(__reduce_or_sync, unsigned, a | b)
WARDEN_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef WARDEN_COMMA
#undef WARDEN_REDUCE

inline bool __isShared(void const* address) { return sim::device::is_shared(address); }

}  // namespace cuda_names
WARDEN_NAMESPACE_END
