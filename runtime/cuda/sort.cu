// SPDX-License-Identifier: Apache-2.0
// Sorting on CUDA: CUB's device algorithms, compiled here once so that no header needs them.

#include "check.hpp"

#include <warden/runtime.hpp>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {

namespace {

struct begins_run {
  std::uint32_t const* keys;
  __device__ bool operator()(std::uint32_t p) const { return p == 0 || keys[p] != keys[p - 1]; }
};

// Null memory makes CUB write how much it needs, and do nothing else.
void radix_sort(pair_arrays const& a, unsigned bits, void* temporary, std::size_t& bytes,
                stream_ref s, std::source_location where) {
  check(cub::DeviceRadixSort::SortPairs(temporary, bytes, a.keys, a.sorted_keys, a.values,
                                        a.sorted_values, static_cast<int>(a.n), 0,
                                        static_cast<int>(bits), s.handle()),
        "sorting " + std::to_string(a.n) + " pairs", where);
}
void select_starts(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* starts,
                   std::uint32_t* count, void* temporary, std::size_t& bytes, stream_ref s,
                   std::source_location where) {
  check(cub::DeviceSelect::If(temporary, bytes, thrust::counting_iterator<std::uint32_t>{0}, starts,
                              count, static_cast<int>(n), begins_run{keys}, s.handle()),
        "finding the runs of " + std::to_string(n) + " keys", where);
}

}  // namespace

std::size_t sort_bytes(std::uint32_t n, unsigned bits, std::source_location where) {
  std::size_t for_sort = 0, for_runs = 0;
  radix_sort({nullptr, nullptr, nullptr, nullptr, n}, bits, nullptr, for_sort, {}, where);
  select_starts(nullptr, n, nullptr, nullptr, nullptr, for_runs, {}, where);
  return std::max(for_sort, for_runs);
}

void sort_pairs(pair_arrays const& a, unsigned bits, void* temporary, std::size_t temporary_bytes,
                stream_ref s, std::source_location where) {
  radix_sort(a, bits, temporary, temporary_bytes, s, where);
}

void find_runs(std::uint32_t const* keys, std::uint32_t n, std::uint32_t* starts,
               std::uint32_t* count, void* temporary, std::size_t temporary_bytes, stream_ref s,
               std::source_location where) {
  select_starts(keys, n, starts, count, temporary, temporary_bytes, s, where);
}

}  // namespace runtime
WARDEN_HOST_NAMESPACE_END
