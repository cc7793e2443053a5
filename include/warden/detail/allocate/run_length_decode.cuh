// SPDX-License-Identifier: Apache-2.0
/// @file
/// Run-length decoding: writes each value as often as its length tells.
#pragma once

#include <warden/detail/allocate/allocate_async.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Returns the length of run i.
struct length_of_run {
  std::uint32_t const* lengths;
  WARDEN_DEVICE std::uint32_t operator()(std::uint64_t i) const { return lengths[i]; }
};
/// Returns the value of run i, for each element.
template <class T, bool IsSmall>
struct value_of_run {
  T const* values;
  WARDEN_DEVICE T operator()(std::uint64_t i, std::uint32_t) const { return values[i]; }
};
/// Version for values that are small enough for shared memory.
template <class T>
struct value_of_run<T, true> {
  T const* values;
  WARDEN_DEVICE T item(std::uint64_t i) const { return values[i]; }
  WARDEN_DEVICE T operator()(std::uint64_t, std::uint32_t, T value) const { return value; }
};
template <class T>
using run_value = value_of_run<T, sizeof(T) <= 8 && std::is_trivially_default_constructible_v<T>>;

}  // namespace detail

/// Writes `values[i]` to `out` `lengths[i]` times, for i = 0 to `runs` - 1. Both arrays are in
/// device memory and have `runs` elements. The default policy has fewer items than others, because
/// values need registers, too. Enqueued. Throws the errors of allocate_async. CUB decodes within a
/// block only, as many runs as the block holds. Source: D. Merrill, "Allocation-oriented Algorithm
/// Design with Application to GPU Computing", 2011, section 2.5.
template <class Policy = ordered_allocation<256, 15>, class T>
void run_length_decode_async(T const* values, std::uint32_t const* lengths, std::uint64_t runs,
                             output<T>& out, located_stream in = {}) {
  allocate_async<Policy>(runs, detail::length_of_run{lengths}, detail::run_value<T>{values}, out,
                         in);
}

WARDEN_NAMESPACE_END
