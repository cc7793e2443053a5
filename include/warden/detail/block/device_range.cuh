// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranges of device memory from which a guarded array takes its records.
#pragma once

#include <warden/simt/annotations.cuh>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the address that a pointer holds, or an object like thrust::device_ptr.
template <class T>
T* address_of(T* p) {
  return p;
}
template <class Pointer>
auto address_of(Pointer p) -> decltype(p.get()) {
  return p.get();
}
template <class Range>
auto data_of(Range& range) -> decltype(address_of(range.data())) {
  return address_of(range.data());
}
template <class Allocator>
inline constexpr bool is_host_allocator = false;
template <class T>
inline constexpr bool is_host_allocator<std::allocator<T>> = true;
/// True for a container whose elements are in host memory, as its type says.
template <class Range>
inline constexpr bool is_host_container = requires {
  requires is_host_allocator<typename Range::allocator_type>;
};
template <class T, class Allocator>
inline constexpr bool is_host_container<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool is_host_container<std::array<T, N>> = true;

}  // namespace detail

/// A contiguous range of `T` in device memory: it has `size()`, and `data()` returns a pointer or
/// an object with a pointer `get()`. Containers in host memory are excluded: std::vector,
/// std::array, and those with a std::allocator.
template <class Range, class T>
concept device_range = !detail::is_host_container<std::remove_cvref_t<Range>> &&
                       requires(std::remove_reference_t<Range> & range) {
  { detail::data_of(range) } -> std::same_as<T*>;
  { range.size() } -> std::convertible_to<std::size_t>;
};

WARDEN_NAMESPACE_END
