// SPDX-License-Identifier: Apache-2.0
// Arms that sort tiles of keys in shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bank_conflicts {

/// Rows, and columns, of the square matrix of keys that ShearSort sorts: one for each lane, which
/// is one for each bank.
inline constexpr unsigned side = 32;
inline constexpr unsigned tile_keys = side * side;

/// Tiles to sort, each by itself.
struct tiles {
  std::uint32_t const* keys;
  std::uint32_t* sorted;
  std::uint32_t count;
};

/// Enqueues a sort of all tiles. Throws cuda_error.
using sort_tiles = void (*)(tiles const& of);
/// [name] arm
using sort_arms = std::map<std::string, sort_tiles>;
/// Arms that sort a tile by a warp. ShearSort sorts the rows and columns of a matrix: `shear_rows`
/// reads rows as they lie, `shear_padded` with a word between rows, `shear_transposed` as columns
/// of the transposed matrix. `merge_rows` and `merge_padded` merge lists of rows.
sort_arms warp_sorts();
/// Arms by CUB, named by the items of a thread; none on the simulated device.
sort_arms block_sorts();

/// Names of all arms.
inline char const* const arm_names[] = {
    "shear_rows",  "shear_padded", "shear_transposed", "merge_rows",  "merge_padded",
    "cub_merge_4", "cub_merge_8",  "cub_merge_9",      "cub_radix_4", "cub_radix_8"};

}  // namespace bank_conflicts
