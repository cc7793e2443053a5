// SPDX-License-Identifier: Apache-2.0
// The algorithms as host loops, on memory that the simulated device shares with the host.

#include "microbench/allocation/algorithms.hpp"

#include <warden/stream.hpp>

#include <algorithm>

namespace allocation {

std::size_t histogram_bytes(histogram_arguments const&) { return 0; }
void histogram_async(histogram_arguments const& a, temporary const&) {
  warden::stream_ref{}.synchronize();
  std::fill_n(a.counts, a.bins, 0u);
  for (std::uint32_t i = 0; i < a.n; ++i) ++a.counts[a.samples[i]];
}

std::size_t sort_and_count_bytes(sorted_arguments const&) { return 0; }
void sort_and_count_async(sorted_arguments const& a, temporary const&) {
  warden::stream_ref{}.synchronize();
  std::copy_n(a.samples, a.n, a.sorted);
  std::sort(a.sorted, a.sorted + a.n);
  std::uint32_t runs = 0;
  for (std::uint32_t i = 0; i < a.n; ++runs) {
    std::uint32_t const begin = i;
    while (i < a.n && a.sorted[i] == a.sorted[begin]) ++i;
    a.values[runs] = a.sorted[begin];
    a.counts[runs] = i - begin;
  }
  *a.runs = runs;
}

std::size_t decode_tiles(std::uint64_t) { return 0; }
std::size_t decode_bytes(decode_arguments const&) { return 0; }
void block_decode_async(decode_arguments const& a, temporary const&) {
  warden::stream_ref{}.synchronize();
  std::uint32_t* to = a.elements;
  for (std::uint32_t i = 0; i < a.runs; ++i) to = std::fill_n(to, a.lengths[i], a.values[i]);
}
void batched_decode_async(decode_arguments const& a, temporary const& memory) {
  block_decode_async(a, memory);
}

}  // namespace allocation
