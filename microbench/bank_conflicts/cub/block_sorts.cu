// SPDX-License-Identifier: Apache-2.0
// Sorts of a tile by the algorithms of CUB for a block.

#include "microbench/bank_conflicts/arms.hpp"

#include <warden/cuda_names.cuh>
#include <warden/simt/launch.cuh>
#include <warden/simt/simt.cuh>

#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

#include <type_traits>

namespace bank_conflicts {
namespace {

namespace simt = warden::simt;

/// Threads of a block that sorts a tile, with `Items` keys a thread: whole warps.
template <int Items>
inline constexpr int threads = (static_cast<int>(tile_keys) + 32 * Items - 1) / (32 * Items) * 32;

struct less {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};

/// The keys that a block has more than the tile are larger than all others.
inline constexpr std::uint32_t beyond_all = ~0u;

template <bool Radix, int Items>
WARDEN_KERNEL void sort_tile(tiles const a) {
  simt::assume_one_dimension();
  using load = cub::BlockLoad<std::uint32_t, threads<Items>, Items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using merge_sort = cub::BlockMergeSort<std::uint32_t, threads<Items>, Items>;
  using radix_sort = cub::BlockRadixSort<std::uint32_t, threads<Items>, Items>;
  using sort = std::conditional_t<Radix, radix_sort, merge_sort>;
  using store =
      cub::BlockStore<std::uint32_t, threads<Items>, Items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  union storage_type {
    typename load::TempStorage loading;
    typename sort::TempStorage sorting;
    typename store::TempStorage storing;
  };
  WARDEN_SHARED(storage_type, storage);
  std::uint64_t const begin = std::uint64_t{simt::block_rank()} * tile_keys;
  constexpr int valid = static_cast<int>(tile_keys);
  constexpr bool is_full = threads<Items> * Items == valid;
  std::uint32_t keys[Items];
  if constexpr (is_full) {
    load{storage.loading}.Load(a.keys + begin, keys);
  } else {
    load{storage.loading}.Load(a.keys + begin, keys, valid, beyond_all);
  }
  simt::sync_block();
  if constexpr (Radix) {
    sort{storage.sorting}.Sort(keys);
  } else {
    sort{storage.sorting}.Sort(keys, less{});
  }
  simt::sync_block();
  if constexpr (is_full) {
    store{storage.storing}.Store(a.sorted + begin, keys);
  } else {
    store{storage.storing}.Store(a.sorted + begin, keys, valid);
  }
}

template <bool Radix, int Items>
void sort_async(tiles const& of) {
  simt::launch(&sort_tile<Radix, Items>, of.count, threads<Items>, 0, of, {});
}

}  // namespace

sort_arms block_sorts() {
  return {{"cub_merge_4", sort_async<false, 4>},
          {"cub_merge_8", sort_async<false, 8>},
          {"cub_merge_9", sort_async<false, 9>},
          {"cub_radix_4", sort_async<true, 4>},
          {"cub_radix_8", sort_async<true, 8>}};
}

}  // namespace bank_conflicts
