// SPDX-License-Identifier: Apache-2.0
// Sums by keys of 64 bits by CUB: a radix sort of the rows, and a reduction by key.

#include "microbench/workloads/sparse_keys.cuh"

#include "microbench/allocation/cub/check.cuh"

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace workloads {
namespace {

struct to_total {
  __host__ __device__ key_total operator()(std::uint64_t value) const { return {value, 1}; }
};
struct add_totals {
  __host__ __device__ key_total operator()(key_total const& a, key_total const& b) const {
    return {a.sum + b.sum, a.count + b.count};
  }
};

/// Memory of the sort and of the reduction.
struct sorted_keys {
  explicit sorted_keys(keyed_rows const& r)
      : keys{r.n}, values{r.n}, unique{r.n_groups}, totals{r.n_groups}, runs{1}, memory{0} {
    std::size_t sorting = 0, reducing = 0;
    sort(r, nullptr, sorting);
    reduce(r, nullptr, reducing);
    memory = warden::buffer<std::byte>{std::max(sorting, reducing)};
  }
  void sort(keyed_rows const& r, void* at, std::size_t& bytes) const {
    allocation::check("sorting", cub::DeviceRadixSort::SortPairs(at, bytes, r.keys, keys.data(),
                                                                 r.values, values.data(), r.n));
  }
  void reduce(keyed_rows const& r, void* at, std::size_t& bytes) const {
    allocation::check("reducing", cub::DeviceReduce::ReduceByKey(
                                      at, bytes, keys.data(), unique.data(),
                                      thrust::make_transform_iterator(values.data(), to_total{}),
                                      totals.data(), runs.data(), add_totals{}, r.n));
  }
  warden::buffer<std::uint64_t> keys, values, unique;
  warden::buffer<key_total> totals;
  warden::buffer<std::uint32_t> runs;
  warden::buffer<std::byte> memory;
};

/// Finds a key by binary search.
struct find_in_sorted {
  std::uint64_t const* keys;
  key_total const* totals;
  std::uint32_t const* runs;
  WARDEN_DEVICE key_total operator()(std::uint64_t key) const {
    std::uint32_t begin = 0, end = *runs;
    while (begin < end) {
      std::uint32_t const middle = begin + (end - begin) / 2;
      if (keys[middle] < key) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin < *runs && keys[begin] == key ? totals[begin] : key_total{0, 0};
  }
};

arm make_cub_sort(keyed_work& w) {
  auto const by = std::make_shared<sorted_keys>(w.rows());
  return {[=, r = w.rows()] {
            std::size_t bytes = by->memory.bytes();
            by->sort(r, by->memory.data(), bytes);
            by->reduce(r, by->memory.data(), bytes);
          },
          [=, r = w.rows()] {
            look_up(r, find_in_sorted{by->unique.data(), by->totals.data(), by->runs.data()});
          }};
}

}  // namespace

void add_cub_arms(arm_makers<keyed_work>& to) { to["cub_sort"] = make_cub_sort; }

}  // namespace workloads
