// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device views of the guarded arrays of a deferred_several, and memory for the rows of a run.
#pragma once

#include <warden/buffer.hpp>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/several/section_arrays.cuh>
#include <warden/guarded_arrays.cuh>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Memory for the rows that sections append to one array.
struct appended_memory {
  buffer<std::uint32_t> sections;  ///< [section]
  buffer<std::uint64_t> warps;     ///< [warp], and one more
};

/// Sets the device views of arrays whose first record has the number `begin`, and makes memory for
/// the rows that `sections` sections append to them. Throws cuda_error.
template <class Type, class... Others, class Array, class... Rest>
void view_arrays(array_set<Type, Others...>& to, std::uint32_t begin, std::size_t sections,
                 std::vector<appended_memory>& made, std::source_location where, Array& array,
                 Rest&... rest) {
  auto& on = array_source<Array>::guarded_of(array);
  using record = typename section_array<Type>::record;
  static_cast<run_array<record>&>(to.first) = guarded_access::array<record>(on, true);
  to.first.begin = begin;
  if constexpr (section_array<Type>::grows) {
    auto const n = static_cast<std::uint32_t>(sections);
    appended_memory& memory =
        made.emplace_back(buffer<std::uint32_t>{sections, where},
                          buffer<std::uint64_t>{growing_rows::warps_of(n) + 1u, where});
    to.first.rows = {array.in_use(), memory.sections.data(), memory.warps.data()};
  }
  if constexpr (sizeof...(Rest) != 0) {
    auto const next = begin + static_cast<std::uint32_t>(on.size());
    view_arrays(to.others, next, sections, made, where, rest...);
  }
}

/// Calls `f` with the guarded array, or with the arrays of a guarded_arrays.
template <class Guarded, class F>
void with_arrays(Guarded& on, F const& f) {
  f(on);
}
template <class... Arrays, class F>
void with_arrays(guarded_arrays<Arrays...>& on, F const& f) {
  std::apply(f, on.arrays());
}

}  // namespace detail
WARDEN_NAMESPACE_END
