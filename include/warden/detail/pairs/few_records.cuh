// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the sections of two tiles that have few records. All sections want the same records, so one
/// thread runs them all, sorted by pair of records, with both records in registers.
#pragma once

#include <warden/detail/block/warp_scan.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Maximum of slots that count as few.
inline constexpr std::uint32_t few_slots = 16;
/// Pairs of such slots.
inline constexpr std::uint32_t few_pairs = few_slots * few_slots;

/// Runs the messages `m[k]` of the bits k of `arrived` without locks. Precondition: their slots are
/// below `few_slots`. `Sections` is a pair_sections. `sorted` has room for all messages of a block
/// of `Threads` threads. `counts` has more than `few_pairs` elements, which are 0 before and after.
/// Collective over the block; a block barrier follows.
template <unsigned Threads, class Sections, class Message, unsigned PerThread>
WARDEN_DEVICE void run_by_pair(Sections const& sections, Message const (&m)[PerThread],
                               unsigned arrived, simt::shared_span<Message> sorted,
                               simt::shared_span<std::uint32_t> counts) {
  static_assert(few_pairs % simt::warp_size == 0);
  auto const pair_of = [](Message const& one) {
    return one.local() * few_slots + Sections::second_of(one);
  };
  std::uint32_t ranks[PerThread];
  WARDEN_UNROLL
  for (unsigned k = 0; k < PerThread; ++k)
    if ((arrived >> k & 1u) != 0) ranks[k] = simt::shared_fetch_add(counts[pair_of(m[k])], 1u);
  simt::sync_block();
  unsigned const me = simt::lane_id();
  if (simt::warp_rank() == 0) {
    std::uint32_t sum = 0;
    WARDEN_NO_UNROLL
    for (unsigned base = 0; base < few_pairs; base += simt::warp_size) {
      std::uint32_t const count = counts[base + me], before = warp_sum_before(count);
      counts[base + me] = sum + before;
      sum += simt::shuffle(simt::full_warp, before + count, simt::warp_size - 1);
    }
    if (me == 0) counts[few_pairs] = sum;
  }
  simt::sync_block();
  WARDEN_UNROLL
  for (unsigned k = 0; k < PerThread; ++k)
    if ((arrived >> k & 1u) != 0) sorted[counts[pair_of(m[k])] + ranks[k]] = m[k];
  simt::sync_block();
  if (simt::warp_rank() != 0) return;
  WARDEN_NO_UNROLL
  for (unsigned base = 0; base < few_pairs; base += simt::warp_size) {
    // Most pairs have no section: the warp skips those together.
    unsigned pairs = simt::ballot(simt::full_warp, counts[base + me + 1] != counts[base + me]);
    for (; me == 0 && pairs != 0; pairs &= pairs - 1) {
      unsigned const pair = base + static_cast<unsigned>(simt::first_bit(pairs));
      std::uint32_t const begin = counts[pair];
      sections.run_alike(&sorted[begin], counts[pair + 1] - begin);
    }
  }
  simt::sync_warp(simt::full_warp);
  for (unsigned i = me; i <= few_pairs; i += simt::warp_size) counts[i] = 0;
}

}  // namespace detail
WARDEN_NAMESPACE_END
