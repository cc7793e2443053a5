// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics of the platform layer in global memory, on a CUDA GPU. Atomics are
// relaxed at device scope.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/flit_words.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace simt {

namespace detail {
template <class T>
inline constexpr bool word = (sizeof(T) == 4 || sizeof(T) == 8) && std::is_trivially_copyable_v<T>;
template <class To, class From>
WARDEN_DEVICE To bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &value, sizeof(To));
  return result;
}
}  // namespace detail

template <class T>
WARDEN_DEVICE T load_relaxed(T const* address) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(v)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return detail::bits<T>(v);
  } else {
    std::uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(v)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return detail::bits<T>(v);
  }
}
// The compiler may leave it out, move it, or reuse an earlier value.
template <class T>
WARDEN_DEVICE T load_unordered(T const* address) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t v;
    asm("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(address)));
    return detail::bits<T>(v);
  } else {
    std::uint64_t v;
    asm("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(address)));
    return detail::bits<T>(v);
  }
}
template <class T>
WARDEN_DEVICE T load_acquire(T const* address) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    std::uint32_t v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(v)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return detail::bits<T>(v);
  } else {
    std::uint64_t v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                 : "=l"(v)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return detail::bits<T>(v);
  }
}
template <class T>
WARDEN_DEVICE void store_relaxed(T* address, std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
                 "r"(detail::bits<std::uint32_t>(value))
                 : "memory");
  } else {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
                 "l"(detail::bits<std::uint64_t>(value))
                 : "memory");
  }
}
template <class T>
WARDEN_DEVICE void store_release(T* address, std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
                 "r"(detail::bits<std::uint32_t>(value))
                 : "memory");
  } else {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
                 "l"(detail::bits<std::uint64_t>(value))
                 : "memory");
  }
}

/// One 16-byte load; each word is atomic by itself.
WARDEN_DEVICE flit_words load_flit(flit_words const* address) {
  flit_words v;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(v.first), "=l"(v.second)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return v;
}
/// One 16-byte store; each word is atomic by itself. `marked` is true if each word has a sequence
/// tag; only the simulated device uses it.
WARDEN_DEVICE void store_flit(flit_words* address, flit_words value, bool = true) {
  asm volatile(
      "st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(address)),
      "l"(value.first), "l"(value.second)
      : "memory");
}
/// One 128-bit load. Volatile, because the compiler narrows a relaxed load of which only parts are
/// used.
WARDEN_DEVICE flit_words load_whole_flit(flit_words const* address) {
  flit_words v;
  asm volatile(
      "{\n\t"
      ".reg .b128 flit;\n\t"
      "ld.volatile.global.b128 flit, [%2];\n\t"
      "mov.b128 {%0, %1}, flit;\n\t"
      "}"
      : "=l"(v.first), "=l"(v.second)
      : "l"(__cvta_generic_to_global(address))
      : "memory");
  return v;
}
/// One 128-bit store.
WARDEN_DEVICE void store_whole_flit(flit_words* address, flit_words value) {
  asm volatile(
      "{\n\t"
      ".reg .b128 flit;\n\t"
      "mov.b128 flit, {%1, %2};\n\t"
      "st.relaxed.gpu.global.b128 [%0], flit;\n\t"
      "}" ::"l"(__cvta_generic_to_global(address)),
      "l"(value.first), "l"(value.second)
      : "memory");
}

/// Prefetches an address into the level-2 cache. Does not wait.
WARDEN_DEVICE void prefetch(void const* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}

/// One 16-byte load. Precondition: the address is aligned to 16 bytes. Each word is atomic by
/// itself.
WARDEN_DEVICE void load_four_words(void const* address, std::uint32_t (&words)[4]) {
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(__cvta_generic_to_global(address))
               : "memory");
}
/// One plain 16-byte store. Precondition: the address is aligned to 16 bytes, and this thread does
/// not read it, because its later loads may come before the store. From an assignment the compiler
/// makes 4 stores, or 1.
WARDEN_DEVICE void store_four_words(void* address, std::uint32_t const (&words)[4]) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
}

namespace detail {
// The CUDA intrinsics take `unsigned long long`, not `std::uint64_t`.
template <class T>
using atomic_word =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       unsigned long long>;
template <class T>
using ordered_word =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>;
}  // namespace detail

template <class T>
WARDEN_DEVICE T fetch_add(T* address, std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  if constexpr (std::is_floating_point_v<T>) {
    return atomicAdd(address, value);
  } else {
    using word = detail::atomic_word<T>;
    return static_cast<T>(atomicAdd(reinterpret_cast<word*>(address), static_cast<word>(value)));
  }
}
/// Adds without returning a result. The compiler makes the same of fetch_add if its result is
/// unused, except if a fence follows, which would order the result.
template <class T>
WARDEN_DEVICE void add(T* address, std::type_identity_t<T> value) {
  static_assert(detail::word<T> && std::is_integral_v<T>);
  if constexpr (sizeof(T) == 4) {
    asm volatile(
        "red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
        "r"(detail::bits<std::uint32_t>(value))
        : "memory");
  } else {
    asm volatile(
        "red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(address)),
        "l"(detail::bits<std::uint64_t>(value))
        : "memory");
  }
}
/// Adds as fetch_add does. The lanes that happen to be converged, with one address and one value,
/// add by one atomic. Which lanes are converged is the hardware's choice, and affects only speed.
WARDEN_DEVICE std::uint64_t fetch_add_together(std::uint64_t* address, std::uint64_t value) {
  unsigned const mask =
      __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(address));
  int const leader = __ffs(static_cast<int>(mask)) - 1;
  unsigned lower;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  unsigned const before = __popc(mask & lower);
  std::uint64_t first = 0;
  if (before == 0) first = fetch_add(address, value * static_cast<unsigned>(__popc(mask)));
  return __shfl_sync(mask, first, leader) + value * before;
}
/// Returns, to the first of the lanes that happen to be converged with this address, their number;
/// 0 to the others.
WARDEN_DEVICE unsigned count_together(void const* address) {
  unsigned const mask =
      __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(address));
  unsigned lower;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  return (mask & lower) == 0 ? static_cast<unsigned>(__popc(mask)) : 0;
}
/// Adds without a result, and without waiting. The converged lanes, with one address and one value,
/// add by one atomic, as above.
template <class T>
WARDEN_DEVICE void add_together(T* address, std::type_identity_t<T> value) {
  if (unsigned const lanes = count_together(address); lanes != 0) add(address, value * lanes);
}
template <class T>
WARDEN_DEVICE T exchange(T* address, std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  using word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  return detail::bits<T>(atomicExch(reinterpret_cast<word*>(address), detail::bits<word>(value)));
}
/// Returns the old value. The exchange happened if it equals `expected`.
template <class T>
WARDEN_DEVICE T compare_exchange(T* address, std::type_identity_t<T> expected,
                                 std::type_identity_t<T> value) {
  static_assert(detail::word<T>);
  using word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  return detail::bits<T>(atomicCAS(reinterpret_cast<word*>(address), detail::bits<word>(expected),
                                   detail::bits<word>(value)));
}
template <class T>
WARDEN_DEVICE T fetch_min(T* address, std::type_identity_t<T> value) {
  using word = detail::ordered_word<T>;
  return static_cast<T>(atomicMin(reinterpret_cast<word*>(address), static_cast<word>(value)));
}
template <class T>
WARDEN_DEVICE T fetch_max(T* address, std::type_identity_t<T> value) {
  using word = detail::ordered_word<T>;
  return static_cast<T>(atomicMax(reinterpret_cast<word*>(address), static_cast<word>(value)));
}
template <class T>
WARDEN_DEVICE T fetch_xor(T* address, std::type_identity_t<T> value) {
  using word = detail::atomic_word<T>;
  return static_cast<T>(atomicXor(reinterpret_cast<word*>(address), static_cast<word>(value)));
}
template <class T>
WARDEN_DEVICE T fetch_or(T* address, std::type_identity_t<T> value) {
  using word = detail::atomic_word<T>;
  return static_cast<T>(atomicOr(reinterpret_cast<word*>(address), static_cast<word>(value)));
}

}  // namespace simt
WARDEN_NAMESPACE_END
