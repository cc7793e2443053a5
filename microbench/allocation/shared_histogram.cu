// SPDX-License-Identifier: Apache-2.0
// Histogram by atomics in shared memory: each block has bins of its own, and adds them to the bins
// in global memory at its end.

#include "microbench/allocation/histogram_arm.hpp"

#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace allocation {

namespace simt = warden::simt;

struct shared_histogram_arguments {
  histogram_arguments all;
  /// If a block has no memory for all bins, each block counts one part of the bins. The blocks of a
  /// part read all samples.
  std::uint32_t parts, bins;  ///< bins of a part
  std::uint32_t copies;       ///< copies of its bins in a block, each for some of its warps
};
struct alignas(16) sample_vector {
  std::uint32_t words[4];
};

constexpr unsigned shared_histogram_threads = 1024;

/// Precondition: the counts in global memory are 0, and the number of blocks is a multiple of the
/// parts.
WARDEN_KERNEL void WARDEN_BOUNDS(shared_histogram_threads, 2)
    count_in_shared_memory(shared_histogram_arguments const a) {
  simt::assume_one_dimension();
  auto* const counts = reinterpret_cast<std::uint32_t*>(simt::dynamic_shared());
  std::uint32_t const mine = simt::thread_rank(), threads = simt::block_threads();
  for (std::uint32_t i = mine; i < a.bins * a.copies; i += threads) counts[i] = 0;
  simt::sync_block();
  std::uint32_t const first = simt::block_rank() % a.parts * a.bins;
  auto* const own = counts + simt::warp_rank() % a.copies * a.bins;
  auto const count = [&](std::uint32_t sample) {
    // For samples below the part, the difference wraps around to a large number.
    if (sample - first < a.bins) simt::shared_fetch_add(own[sample - first], 1u);
  };
  std::uint32_t const begin = simt::block_rank() / a.parts * threads + mine;
  std::uint32_t const step = simt::block_count() / a.parts * threads;
  auto const* const vectors = reinterpret_cast<sample_vector const*>(a.all.samples);
  std::uint32_t const whole = a.all.n / 4;
  // Two loads are in flight at once.
  for (std::uint32_t i = begin; i < whole; i += 2 * step) {
    sample_vector const v = vectors[i];
    bool const both = i + step < whole;
    sample_vector const next = vectors[both ? i + step : i];
    for (std::uint32_t const sample : v.words) count(sample);
    if (both) {
      for (std::uint32_t const sample : next.words) count(sample);
    }
  }
  // At most 3 samples are left.
  if (begin < a.all.n % 4) count(a.all.samples[4 * whole + begin]);
  simt::sync_block();
  for (std::uint32_t i = mine; i < a.bins && first + i < a.all.bins; i += threads) {
    std::uint32_t sum = 0;
    for (std::uint32_t copy = 0; copy < a.copies; ++copy) sum += counts[copy * a.bins + i];
    if (sum != 0) simt::fetch_add(&a.all.counts[first + i], sum);
  }
}

void shared_histogram_async(histogram_arguments const& a) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  constexpr std::size_t word = sizeof(std::uint32_t);
  // A block uses half of the shared memory if all bins fit there, so that a multiprocessor holds
  // two blocks.
  std::size_t const small = facts.shared_bytes_per_block / 2 / word;
  auto const most = static_cast<std::uint32_t>(facts.shared_bytes_per_block / word);
  std::uint32_t const parts = (a.bins + most - 1) / most, bins = (a.bins + parts - 1) / parts;
  std::uint32_t const copies = std::clamp<std::uint32_t>(
      static_cast<std::uint32_t>(small / bins), 1, shared_histogram_threads / simt::warp_size);
  std::size_t const bytes = std::size_t{bins} * copies * word;
  unsigned const threads = facts.simulated ? 128 : shared_histogram_threads;
  auto const resident = static_cast<std::uint32_t>(
      warden::runtime::resident_blocks(simt::make_kernel(&count_in_shared_memory), threads, bytes));
  // Each part gets the same number of blocks, and each block has samples.
  std::uint32_t const wanted = (a.n + 4 * threads - 1) / (4 * threads);
  std::uint32_t const blocks = std::clamp(wanted, 1u, std::max(resident / parts, 1u)) * parts;
  simt::launch(&count_in_shared_memory, blocks, threads, bytes,
               shared_histogram_arguments{a, parts, bins, copies}, {});
}

}  // namespace allocation
