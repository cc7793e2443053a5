// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a guarded takes records from.
#pragma once

#include <warden/version.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace warden {

namespace detail {

/// The address behind a pointer, or behind an object like thrust::device_ptr.
template <class Pointer>
auto address_of(Pointer p) {
  if constexpr (std::is_pointer_v<Pointer>) {
    return p;
  } else {
    return p.get();
  }
}
template <class Range>
auto data_of(Range& range) {
  return address_of(range.data());
}
template <class T>
inline constexpr bool is_host_container = false;
template <class T, class Allocator>
inline constexpr bool is_host_container<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool is_host_container<std::array<T, N>> = true;

}  // namespace detail

/// A contiguous range of `T` in device memory: whatever has `data()`, a pointer or what has one by
/// `get()`, and `size()`. Containers that are known to be in host memory are none.
template <class Range, class T>
concept device_range = !detail::is_host_container<std::remove_cvref_t<Range>> &&
                       requires(std::remove_reference_t<Range> & range) {
  range.data();
  { range.size() } -> std::convertible_to<std::size_t>;
  requires std::same_as<decltype(detail::data_of(range)), T*>;
};

}  // namespace warden
