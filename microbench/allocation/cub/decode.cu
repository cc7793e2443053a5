// SPDX-License-Identifier: Apache-2.0
// Run-length decoding from parts of CUB.

#include "microbench/allocation/algorithms.hpp"
#include "microbench/allocation/cub/check.cuh"

#include <warden/cuda_names.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_load.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_copy.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace allocation {

namespace simt = warden::simt;

namespace {

/// Shape of a block, which decodes `tile` elements. Up to `tile` runs can begin in a tile.
constexpr int threads = 256, items = 8, tile = threads * items;

struct first_of_tile {
  __device__ std::uint32_t operator()(std::uint32_t number) const { return number * tile; }
};
/// Returns an iterator that repeats the value of run i.
struct repeated {
  std::uint32_t const* values;
  __device__ thrust::constant_iterator<std::uint32_t> operator()(std::int64_t i) const {
    return thrust::constant_iterator<std::uint32_t>{values[i]};
  }
};
struct place_of {
  std::uint32_t* elements;
  std::uint32_t const* offsets;
  __device__ std::uint32_t* operator()(std::int64_t i) const { return elements + offsets[i]; }
};
template <class F>
auto made_by(F f) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>{0}, f);
}

void scan_lengths(decode_arguments const& a, void* memory, std::size_t& bytes) {
  check("scanning", cub::DeviceScan::InclusiveSum(memory, bytes, a.lengths, a.offsets + 1, a.runs));
}
void copy_runs(decode_arguments const& a, void* memory, std::size_t& bytes) {
  check("copying runs",
        cub::DeviceCopy::Batched(memory, bytes, made_by(repeated{a.values}),
                                 made_by(place_of{a.elements, a.offsets}), a.lengths, a.runs));
}
void find_offsets_async(decode_arguments const& a, temporary const& memory) {
  warden::runtime::fill_async(a.offsets, 0, sizeof *a.offsets, {});
  std::size_t bytes = memory.bytes();
  scan_lengths(a, memory.data(), bytes);
}

}  // namespace

WARDEN_KERNEL void WARDEN_BOUNDS(threads, 5) decode_tile(decode_arguments const a) {
  simt::assume_one_dimension();
  using load = cub::BlockLoad<std::uint32_t, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using decode = cub::BlockRunLengthDecode<std::uint32_t, threads, items, items>;
  using store = cub::BlockStore<std::uint32_t, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  union storage_type {
    typename load::TempStorage loading;
    typename decode::TempStorage decoding;
    typename store::TempStorage storing;
  };
  WARDEN_SHARED(storage_type, storage);
  std::uint32_t const begin = simt::block_rank() * tile;
  auto const left = static_cast<int>(a.total - begin < tile ? a.total - begin : tile);
  // The runs of the tile's first and last element.
  std::uint32_t const first = a.starts[simt::block_rank()];
  std::uint32_t const last = begin + tile < a.total ? a.starts[simt::block_rank() + 1] : a.runs - 1;
  auto const runs = static_cast<int>(last - first + 1 < tile ? last - first + 1 : tile);
  std::uint32_t values[items], offsets[items];
  load{storage.loading}.Load(a.values + first, values, runs, 0u);
  simt::sync_block();
  load{storage.loading}.Load(a.offsets + first, offsets, runs, begin + tile);
  simt::sync_block();
  for (std::uint32_t& offset : offsets) offset = offset < begin ? 0 : offset - begin;
  std::uint32_t elements[items];
  decode{storage.decoding, values, offsets}.RunLengthDecode(elements);
  simt::sync_block();
  store{storage.storing}.Store(a.elements + begin, elements, left);
}

std::size_t decode_tiles(std::uint64_t total) { return (total + tile - 1) / tile + 1; }

std::size_t decode_bytes(decode_arguments const& a) {
  std::size_t scanning = 0, copying = 0;
  scan_lengths(a, nullptr, scanning);
  copy_runs(a, nullptr, copying);
  return std::max(scanning, copying);
}
void block_decode_async(decode_arguments const& a, temporary const& memory) {
  find_offsets_async(a, memory);
  auto const tiles = static_cast<std::uint32_t>((a.total + tile - 1) / tile);
  auto const first =
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint32_t>{0}, first_of_tile{});
  // The run of an element is the first run that ends after it.
  thrust::upper_bound(thrust::cuda::par_nosync, a.offsets + 1, a.offsets + 1 + a.runs, first,
                      first + tiles, a.starts);
  simt::launch(&decode_tile, tiles, threads, 0, a, {});
}
void batched_decode_async(decode_arguments const& a, temporary const& memory) {
  find_offsets_async(a, memory);
  std::size_t bytes = memory.bytes();
  copy_runs(a, memory.data(), bytes);
}

}  // namespace allocation
