// SPDX-License-Identifier: Apache-2.0
// Histograms and sorting by CUB, in one translation unit because they take long to compile.

#include "microbench/allocation/algorithms.hpp"
#include "microbench/allocation/cub/check.cuh"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include <algorithm>

namespace allocation {

namespace {

void histogram(histogram_arguments const& a, void* memory, std::size_t& bytes) {
  // Float bounds are exact here. With integer bounds CUB divides once per sample.
  check("histogram", cub::DeviceHistogram::HistogramEven(
                         memory, bytes, a.samples, a.counts, static_cast<int>(a.bins) + 1, 0.f,
                         static_cast<float>(a.bins), static_cast<int>(a.n)));
}
void sort(sorted_arguments const& a, void* memory, std::size_t& bytes) {
  check("sorting", cub::DeviceRadixSort::SortKeys(memory, bytes, a.samples, a.sorted, a.n, 0,
                                                  static_cast<int>(a.bits)));
}
void count_runs(sorted_arguments const& a, void* memory, std::size_t& bytes) {
  check("counting runs", cub::DeviceRunLengthEncode::Encode(memory, bytes, a.sorted, a.values,
                                                            a.counts, a.runs, a.n));
}

}  // namespace

std::size_t histogram_bytes(histogram_arguments const& a) {
  std::size_t bytes = 0;
  histogram(a, nullptr, bytes);
  return bytes;
}
void histogram_async(histogram_arguments const& a, temporary const& memory) {
  std::size_t bytes = memory.bytes();
  histogram(a, memory.data(), bytes);
}

std::size_t sort_and_count_bytes(sorted_arguments const& a) {
  std::size_t sorting = 0, counting = 0;
  sort(a, nullptr, sorting);
  count_runs(a, nullptr, counting);
  return std::max(sorting, counting);
}
void sort_and_count_async(sorted_arguments const& a, temporary const& memory) {
  std::size_t bytes = memory.bytes();
  sort(a, memory.data(), bytes);
  count_runs(a, memory.data(), bytes);
}

}  // namespace allocation
