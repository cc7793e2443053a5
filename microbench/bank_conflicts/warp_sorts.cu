// SPDX-License-Identifier: Apache-2.0
// The arms that sort a tile by a warp.

#include "microbench/bank_conflicts/merge_sort.cuh"
#include "microbench/bank_conflicts/shear_sort.cuh"

#include <warden/simt/launch.cuh>

namespace bank_conflicts {
namespace {

template <class Sort>
void sort_async(tiles const& of) {
  unsigned const blocks = (of.count + warps_a_block - 1) / warps_a_block;
  simt::launch(&sort_by_warps<Sort>, blocks, warps_a_block * simt::warp_size, 0, of, {});
}

}  // namespace

sort_arms warp_sorts() {
  return {{"shear_rows", sort_async<shear_sort<in_rows<side>>>},
          {"shear_padded", sort_async<shear_sort<in_rows<side + 1>>>},
          {"shear_transposed", sort_async<shear_sort<by_transposition>>},
          {"merge_rows", sort_async<merge_sort<side>>},
          {"merge_padded", sort_async<merge_sort<side + 1>>}};
}

}  // namespace bank_conflicts
