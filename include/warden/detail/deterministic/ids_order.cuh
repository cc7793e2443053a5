// SPDX-License-Identifier: Apache-2.0
/// @file
/// Search for an id that is lower than the one before it. If there is none, the sections of a
/// record are next to each other already, and no partition is needed.
#pragma once

#include <warden/detail/block/copy_together.cuh>
#include <warden/detail/block/lane_group.cuh>
#include <warden/detail/block/section_with_row.cuh>
#include <warden/detail/block/warp_scan.cuh>
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
  /// [n / 32] the bits of a word are 32 positions: 1 if the section is the first of its record.
  /// Positions after the last one have any.
  std::uint32_t* heads;
  /// [n] ids of the records that begin in each `head_segment` positions, from the first of these
  /// places on.
  std::uint32_t* head_ids;

  /// True if the ids ascend. Then run_ascending runs the sections, and other kernels leave.
  [[nodiscard]] WARDEN_DEVICE bool ascends() const {
    return descends != nullptr && descends[0] == 0;
  }
  /// Prepares the next run. One kernel calls it, after those that ask `ascends`; a
  /// runtime::gated_sort does the same.
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

/// Threads of a block that reads ids, and neighbouring ids of each at a time: those of a byte of
/// heads.
inline constexpr unsigned descent_threads = 256, descent_each = 8;
/// Positions of which a warp stores the heads' ids together.
inline constexpr unsigned head_segment = descent_each * simt::warp_size;
/// Reads the ids of a thread's sections from section i on. Those after the last one have its id.
template <class Arguments>
WARDEN_DEVICE void read_neighbours(Arguments const& a, std::uint64_t i,
                                   std::uint32_t (&ids)[descent_each]) {
  std::uint32_t const* const all = a.bulk.function.ids[0] + a.first;
  if (reinterpret_cast<std::uintptr_t>(all) % sizeof(four_words) == 0 && i + descent_each <= a.n) {
    constexpr unsigned in_one = sizeof(four_words) / sizeof(std::uint32_t);
    WARDEN_UNROLL
    for (unsigned k = 0; k < descent_each; k += in_one) {
      four_words const words = *reinterpret_cast<four_words const*>(all + i + k);
      WARDEN_UNROLL
      for (unsigned w = 0; w < in_one; ++w) ids[k + w] = words.words[w];
    }
  } else {
    WARDEN_UNROLL
    for (unsigned k = 0; k < descent_each; ++k) ids[k] = all[i + k < a.n ? i + k : a.n - 1];
  }
}
/// Sets `*order.descends` if an id is lower than the one before it or names no record. If not, all
/// heads are found. Blocks leave when it is set, so ids without an order cost little more than the
/// launch. The last ids are read first, so that the first ones are in the L2 cache when the next
/// kernel begins. Any grid.
template <class Arguments>
WARDEN_KERNEL void find_descent(Arguments const a, ids_order const order) {
  simt::assume_one_dimension();
  simt::wait_for_previous_kernel();
  constexpr std::uint32_t tile = descent_threads * descent_each;
  unsigned const me = simt::thread_rank(), lane = simt::lane_id();
  std::uint32_t const tiles = (a.n - 1) / tile + 1;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(order.heads);
  for (std::uint32_t turn = simt::block_rank(); turn < tiles; turn += simt::block_count()) {
    std::uint64_t const first = std::uint64_t{tiles - 1 - turn} * tile + me * descent_each;
    std::uint32_t ids[descent_each];
    bool const is_known = me == 0 && simt::load_relaxed(order.descends) != 0;
    std::uint32_t before = 0;
    if (lane == 0 && first != 0 && first <= a.n)
      before = a.listed_id(static_cast<std::uint32_t>(first - 1));
    read_neighbours(a, first, ids);
    std::uint32_t const other = simt::shuffle(simt::full_warp, ids[descent_each - 1],
                                              (lane + simt::warp_size - 1) % simt::warp_size);
    if (lane != 0) before = other;
    // The last id is the highest one, unless one is lower than the one before it.
    bool is_lower = ids[descent_each - 1] >= a.size;
    unsigned heads = first == 0 ? 1 : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < descent_each; ++k) {
      is_lower = is_lower || ids[k] < before;
      if (ids[k] != before) heads |= 1u << k;
      before = ids[k];
    }
    if (!simt::any(simt::full_warp, is_lower)) {
      if (first >= a.n) heads = 0;
      std::uint32_t rank = warp_sum_before(static_cast<std::uint32_t>(simt::count_bits(heads)));
      std::uint32_t* const to = order.head_ids + (first - lane * descent_each);
      WARDEN_UNROLL
      for (unsigned k = 0; k < descent_each; ++k) {
        if ((heads >> k & 1) != 0) to[rank++] = ids[k];
      }
      if (first < a.n) bytes[first / descent_each] = static_cast<std::uint8_t>(heads);
    }
    if (!simt::sync_block_or(is_lower || is_known)) continue;
    // One thread, because stores of all to one word take long.
    if (me == 0 && !is_known) simt::store_relaxed(order.descends, 1u);  // mutation: ids-descend
    return;
  }
}

}  // namespace detail
WARDEN_NAMESPACE_END
