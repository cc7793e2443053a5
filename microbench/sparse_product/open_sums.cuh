// SPDX-License-Identifier: Apache-2.0
// Sums of neighbouring threads' entries, between the ends of rows.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace sparse_product {

namespace simt = warden::simt;

/// Sum of a thread's entries after the last end of a row.
struct open_sum {
  float sum;
  bool has_end;  ///< true if a row ended in these entries
};

/// Scan over the open sums of a block of `Threads` threads, a multiple of 32.
template <unsigned Threads>
class open_sums {
  static constexpr unsigned warps = Threads / simt::warp_size;
  static_assert(Threads % simt::warp_size == 0);

 public:
  /// Shared memory of one scan at a time.
  struct storage {
    float sums[warps];
    std::uint32_t ends[warps];  ///< [warp] lanes with an end
  };
  struct result {
    float before;  ///< sum of the entries between the last end before the thread and the thread
    float until;   ///< sum of the entries after the last end, up to the thread's
  };

  /// Returns the sums before and up to the thread. The order of the additions depends only on the
  /// ends. Collective, with a barrier. A block barrier must pass before `s` is used again.
  static WARDEN_DEVICE result scan(storage& s, open_sum const& mine) {
    unsigned const lane = simt::lane_id(), warp = simt::warp_rank();
    std::uint32_t const ends = simt::ballot(simt::full_warp, mine.has_end),
                        ends_until = ends & (~0u >> (simt::warp_size - 1 - lane));
    // A sum begins at the last lane with an end.
    unsigned const begin = ends_until == 0 ? 0 : static_cast<unsigned>(simt::last_bit(ends_until));
    float until = mine.sum;
    WARDEN_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      float const other =
          simt::shuffle(simt::full_warp, until, lane < distance ? lane : lane - distance);
      if (lane >= begin + distance) until += other;
    }
    if (lane == simt::warp_size - 1) {
      s.sums[warp] = until;
      s.ends[warp] = ends;
    }
    float before = simt::shuffle(simt::full_warp, until, lane == 0 ? 0 : lane - 1);
    if (lane == 0) before = 0;
    simt::sync_block();
    float earlier = 0;  // sum that the warps before have left
    WARDEN_UNROLL
    for (unsigned w = 0; w + 1 < warps; ++w) {
      if (w < warp) earlier = s.ends[w] != 0 ? s.sums[w] : earlier + s.sums[w];
    }
    std::uint32_t const own = std::uint32_t{1} << lane;
    return {(ends_until & ~own) == 0 ? earlier + before : before,
            ends_until == 0 ? earlier + until : until};
  }
};

}  // namespace sparse_product
