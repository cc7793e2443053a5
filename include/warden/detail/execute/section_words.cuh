// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sections as words of a message, and their positions among the types of a guarded array.
#pragma once

#include <warden/section.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns a copy of the object at `from`, which need not be aligned for `T`. Copies words if `T`
/// has whole ones, because a compiler may copy bytes one by one.
template <class T>
WARDEN_DEVICE T read_from(std::uint32_t const* from) {
  if constexpr (payload_bytes<T> != 0 && sizeof(T) % sizeof(std::uint32_t) == 0) {
    struct {
      std::uint32_t at[sizeof(T) / sizeof(std::uint32_t)];
    } words;
    WARDEN_UNROLL
    for (std::size_t w = 0; w < sizeof(T) / sizeof(std::uint32_t); ++w) words.at[w] = from[w];
    return __builtin_bit_cast(T, words);
  } else {
    // Not value-initialized: a section need not have a default constructor.
    alignas(T) unsigned char bytes[sizeof(T)] = {};
    if constexpr (payload_bytes<T> != 0) memcpy(bytes, from, sizeof(T));
    return *reinterpret_cast<T*>(bytes);
  }
}

/// Number of times that `Section` occurs among `Sections`.
template <class Section, class... Sections>
inline constexpr int times_among = (int{std::is_same_v<Section, Sections>} + ...);

/// Position of `Section` among `Sections`; their number if it is not among them.
template <class Section, class... Sections>
inline constexpr unsigned position_among = [] {
  unsigned position = 0;
  bool found = false;
  ((found = found || std::is_same_v<Section, Sections>, position += found ? 0 : 1), ...);
  return position;
}();

}  // namespace detail
WARDEN_NAMESPACE_END
