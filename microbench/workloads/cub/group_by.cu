// SPDX-License-Identifier: Apache-2.0
// Sums by group by CUB: a radix sort of the rows, and a reduction by key.

#include "microbench/workloads/group_by.cuh"

#include "microbench/allocation/cub/check.cuh"

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>

namespace workloads {
namespace {

struct sum_and_count {
  unsigned __int128 sum;
  std::uint64_t count;
};
struct to_sum {
  __host__ __device__ sum_and_count operator()(value v) const {
    return {static_cast<unsigned __int128>(v.high) << 64 | v.low, 1};
  }
};
struct add_sums {
  __host__ __device__ sum_and_count operator()(sum_and_count const& a,
                                               sum_and_count const& b) const {
    return {a.sum + b.sum, a.count + b.count};
  }
};

/// Memory of the sort and of the reduction.
struct sorted_rows {
  explicit sorted_rows(group_rows const& r)
      : ids{r.n}, values{r.n}, keys{r.n_groups}, sums{r.n_groups}, runs{1}, memory{0} {
    std::size_t sorting = 0, reducing = 0;
    sort(r, nullptr, sorting);
    reduce(r, nullptr, reducing);
    memory = warden::buffer<std::byte>{std::max(sorting, reducing)};
  }
  void sort(group_rows const& r, void* at, std::size_t& bytes) const {
    allocation::check("sorting", cub::DeviceRadixSort::SortPairs(
                                     at, bytes, r.ids, ids.data(), r.values, values.data(), r.n, 0,
                                     static_cast<int>(std::bit_width(r.n_groups - 1))));
  }
  void reduce(group_rows const& r, void* at, std::size_t& bytes) const {
    allocation::check("reducing", cub::DeviceReduce::ReduceByKey(
                                      at, bytes, ids.data(), keys.data(),
                                      thrust::make_transform_iterator(values.data(), to_sum{}),
                                      sums.data(), runs.data(), add_sums{}, r.n));
  }
  warden::buffer<std::uint32_t> ids;
  warden::buffer<value> values;
  warden::buffer<std::uint32_t> keys;
  warden::buffer<sum_and_count> sums;
  warden::buffer<std::uint32_t> runs;
  warden::buffer<std::byte> memory;
};

struct placed {
  std::uint32_t const *keys, *runs;
  sum_and_count const* sums;
  group* groups;
};
/// Copies each sum to its group.
WARDEN_KERNEL void place_sums(placed a) {
  simt::assume_one_dimension();
  bench::for_each_of(*a.runs, [&](std::uint64_t k) {
    sum_and_count const s = a.sums[k];
    a.groups[a.keys[k]] = {
        {static_cast<std::uint64_t>(s.sum), static_cast<std::uint64_t>(s.sum >> 64)}, s.count};
  });
}

arm make_cub_sort(group_work& w) {
  auto const by = std::make_shared<sorted_rows>(w.rows());
  return {[=, r = w.rows()] {
    std::size_t bytes = by->memory.bytes();
    by->sort(r, by->memory.data(), bytes);
    by->reduce(r, by->memory.data(), bytes);
    launch_helper(&place_sums, {by->keys.data(), by->runs.data(), by->sums.data(), r.groups});
  }};
}

}  // namespace

void add_cub_arms(arm_makers<group_work>& to) { to["cub_sort"] = make_cub_sort; }

}  // namespace workloads
