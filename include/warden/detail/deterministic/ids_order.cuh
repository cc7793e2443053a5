// SPDX-License-Identifier: Apache-2.0
/// @file
/// Search for an id that is lower than the one before it. If there is none, the sections of a
/// record are next to each other already, and no partition is needed.
#pragma once

#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The order of a run's ids, in global memory. Plain accesses: a kernel that reads a word waits for
/// the end of the one that wrote it.
struct ids_order {
  /// [0] see find_descent; 0 between runs. [1] the same, for kernels after `settle`. Null if no
  /// kernel looks at the ids.
  std::uint32_t* descends;

  /// True if the ids ascend. Then run_ascending runs the sections, and other kernels leave.
  [[nodiscard]] WARDEN_DEVICE bool ascends() const {
    return descends != nullptr && descends[0] == 0;
  }
  /// Prepares the next run. One kernel calls it, after those that ask `ascends`.
  WARDEN_DEVICE void settle() const {
    if (descends == nullptr || simt::block_rank() != 0 || simt::thread_rank() != 0) return;
    descends[1] = descends[0];
    descends[0] = 0;
  }
  /// Returns what `ascends` does, for kernels after `settle`.
  [[nodiscard]] WARDEN_DEVICE bool has_ascended() const {
    return descends != nullptr && descends[1] == 0;
  }
};

/// True if runs look at the order of ids: an array has them, each has a section, and one lane runs
/// it. `Arguments` are tree_arguments.
template <class Arguments>
inline constexpr bool can_ascend = Arguments::bulk_type::has_all_ids&& Arguments::lanes == 1 &&
                                   !has_row<typename Arguments::section>;

/// Threads of a block that reads ids, and ids of each at a time.
inline constexpr unsigned descent_threads = 256, descent_each = 8;
/// Sets `*order.descends` if an id is lower than the one before it, or the last id names no record.
/// Blocks leave when it is set, so ids without an order cost little more than the launch. The last
/// ids are read first, so that the first ones are in the L2 cache when the next kernel begins. Any
/// grid.
template <class Arguments>
WARDEN_KERNEL void find_descent(Arguments const a, ids_order const order) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr std::uint32_t tile = descent_threads * descent_each;
  unsigned const me = simt::thread_rank();
  bool const is_last_lane = simt::lane_id() == simt::warp_size - 1;
  std::uint32_t const tiles = (a.n - 1) / tile + 1;
  // After the last id comes the last record.
  auto const id = [&](std::uint64_t i) {
    return i < a.n ? a.listed_id(static_cast<std::uint32_t>(i))
                   : static_cast<std::uint32_t>(a.size - 1);
  };
  for (std::uint32_t turn = simt::block_rank(); turn < tiles; turn += simt::block_count()) {
    std::uint64_t const first = std::uint64_t{tiles - 1 - turn} * tile + me;
    std::uint32_t ids[descent_each], nexts[descent_each];
    bool const is_known = me == 0 && simt::load_relaxed(order.descends) != 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < descent_each; ++k) {
      ids[k] = id(first + k * descent_threads);
      nexts[k] = is_last_lane ? id(first + k * descent_threads + 1) : 0;
    }
    bool is_lower = false;
    WARDEN_UNROLL
    for (unsigned k = 0; k < descent_each; ++k) {
      std::uint32_t const next =
          simt::shuffle(simt::full_warp, ids[k], (simt::lane_id() + 1) % simt::warp_size);
      is_lower = is_lower || (is_last_lane ? nexts[k] : next) < ids[k];
    }
    if (!simt::sync_block_or(is_lower || is_known)) continue;
    // One thread, because stores of all to one word take long.
    if (me == 0 && !is_known) simt::store_relaxed(order.descends, 1u);  // mutation: ids-descend
    return;
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
