// SPDX-License-Identifier: Apache-2.0
// Kernels that allocate, and their expected elements.
#pragma once

#include "tests/allocate/items.cuh"

#include <warden/cuda_names.cuh>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test {

inline constexpr unsigned block = 64;
using unordered_allocator = warden::block_allocator<block>;
using ordered_allocator = warden::block_allocator<block, warden::ordered>;

/// Arguments of the kernels.
struct unordered_emission {
  std::uint64_t n;
  std::uint32_t const* counts;
  warden::output_ref<std::uint64_t> out;
};
struct ordered_emission : unordered_emission {
  warden::detail::tile_order tiles;
};

__device__ inline void put(warden::output_ref<std::uint64_t> const& out, std::uint64_t i,
                           std::uint64_t place, std::uint32_t count) {
  for (std::uint32_t k = 0; k < count; ++k) out.store(place + k, numbered{}(i, k));
}

WARDEN_KERNEL void emit_unordered(unordered_emission a) {
  namespace simt = warden::simt;
  WARDEN_SHARED(unordered_allocator::storage, storage);
  unordered_allocator places{a.out.counter(), storage};
  for (std::uint64_t first = std::uint64_t{simt::block_rank()} * block; first < a.n;
       first += std::uint64_t{simt::block_count()} * block) {
    std::uint64_t const i = first + simt::thread_rank();
    std::uint32_t const count = i < a.n ? a.counts[i] : 0;
    put(a.out, i, places.allocate(count), count);
  }
}
WARDEN_KERNEL void emit_ordered(ordered_emission a) {
  WARDEN_SHARED(ordered_allocator::storage, storage);
  ordered_allocator places{a.tiles, storage};
  while (places.next_tile()) {
    std::uint64_t const i = places.tile() * block + warden::simt::thread_rank();
    std::uint32_t const count = i < a.n ? a.counts[i] : 0;
    put(a.out, i, places.allocate(count), count);
  }
}
/// Lanes with an even number of elements, then the others; those with none not at all.
WARDEN_KERNEL void emit_by_lanes(unordered_emission a) {
  namespace simt = warden::simt;
  for (std::uint64_t first = std::uint64_t{simt::block_rank()} * block; first < a.n;
       first += std::uint64_t{simt::block_count()} * block) {
    std::uint64_t const i = first + simt::thread_rank();
    std::uint32_t const count = i < a.n ? a.counts[i] : 0;
    unsigned const odd = simt::ballot(simt::full_warp, count % 2 != 0);
    unsigned const even = simt::ballot(simt::full_warp, count != 0 && count % 2 == 0);
    if (count == 0) continue;
    unsigned const mask = count % 2 != 0 ? odd : even;
    put(a.out, i, warden::allocate_in_warp(a.out.counter(), mask, count), count);
  }
}

enum class same { order, elements };

/// Items, and an output for their elements, or for a part of them.
struct emission {
  warden::stream stream;
  std::vector<std::uint32_t> counts;
  std::vector<std::uint64_t> wanted;
  warden::buffer<std::uint32_t> device_counts;
  guarded_memory<std::uint64_t> memory;
  warden::output<std::uint64_t> out;

  /// Has room for one of `share` elements.
  emission(std::size_t n, std::size_t share, warden::time_limit limit = {})
      : counts{made(n)},
        wanted{elements_of(counts)},
        device_counts{counts},
        memory{wanted.size() / share, 0},
        out{memory, limit} {}

  [[nodiscard]] std::uint64_t tiles() const { return (counts.size() - 1) / block + 1; }
  void launch(void (*kernel)(unordered_emission), warden::dimensions blocks,
              warden::dimensions threads = block) {
    warden::launch(kernel, blocks, threads, stream, arguments());
  }
  void launch_in_order(void (*kernel)(ordered_emission), warden::dimensions blocks,
                       warden::dimensions threads = block) {
    warden::launch(kernel, blocks, threads, stream,
                   {arguments(), out.tiles_async(tiles(), stream)});
  }
  void expect_all(same what) {
    ASSERT_EQ(out.wait(stream), wanted.size());
    std::vector<std::uint64_t> got = memory.to_host(stream);
    if (what == same::elements) std::sort(got.begin(), got.end());
    EXPECT_TRUE(got == wanted);
  }
  /// The limit_error that `wait` throws.
  [[nodiscard]] std::string error_text() const {
    try {
      out.wait(stream);
    } catch (warden::limit_error const& e) {
      return e.what();
    }
    return "";
  }

  [[nodiscard]] unordered_emission arguments() const {
    return {counts.size(), device_counts.data(), out.ref()};
  }

 private:
  static std::vector<std::uint32_t> made(std::size_t n) {
    std::vector<std::uint32_t> counts(n);
    for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<std::uint32_t>(mix(i) % 6);
    return counts;
  }
};

}  // namespace test
