// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks of a block's items among those of the same key, in the items' order, as a counting sort
/// needs that keeps the order of equal keys.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Ranks one more item of each lane that `has` one. Returns its rank among the warp's items with
/// its key, including those that `counter` has counted. Precondition: keys are below `Limit`, and
/// `counter` belongs to the warp. Meaningless in other lanes. Collective over the warp.
template <unsigned Limit, class Counter>
WARDEN_DEVICE std::uint32_t rank_in_warp(Counter& counter, std::uint32_t key, bool has) {
  unsigned const peers =
      simt::match_below<Limit>(simt::full_warp, key) & simt::ballot(simt::full_warp, has);
  unsigned const below = peers & ((1u << simt::lane_id()) - 1);
  std::uint32_t const before = counter;
  simt::sync_warp(simt::full_warp);
  if (has && below == 0) counter = static_cast<Counter>(before + simt::count_bits(peers));
  simt::sync_warp(simt::full_warp);
  return before + simt::count_bits(below);  // mutation: ranks-of-lanes
}

/// The ranks of a block's items among those of their key, in the order of the items. Keys are below
/// `Keys`. The items of warp w come before those of warp w + 1; within a warp, those of one call of
/// `rank` before those of the next, and by lanes. A warp counts its own items; `add_up` turns the
/// counts of a key into the number of items before each warp's.
template <unsigned Threads, unsigned Keys>
class stable_ranks {
  static constexpr unsigned warps = Threads / simt::warp_size;
  /// Counters of a word, which is cleared at once.
  static constexpr unsigned together = sizeof(std::uint64_t) / sizeof(std::uint16_t);
  static_assert(Keys % together == 0);

 public:
  /// Number of counters. Precondition: the shared memory is aligned as a word of 64 bits.
  static constexpr std::size_t size = std::size_t{warps} * Keys;

  /// Precondition: `counts` has `size` counters and belongs to the block; at most 65,535 items have
  /// one key.
  WARDEN_DEVICE explicit stable_ranks(simt::shared_span<std::uint16_t> counts) : counts_{counts} {}

  /// Starts again, for keys below `keys`, before the warp's first item. Collective over the warp; a
  /// block barrier lies between the last use of ranks and this.
  WARDEN_DEVICE void start(std::uint32_t keys) const {
    simt::shared_span<std::uint64_t> const words{reinterpret_cast<std::uint64_t*>(counts_.data()),
                                                 static_cast<unsigned>(size / together)};
    unsigned const first = simt::warp_rank() * (Keys / together);
    WARDEN_UNROLL
    for (unsigned w = simt::lane_id(); w < Keys / together; w += simt::warp_size) {
      if (w * together < keys) words[first + w] = 0;
    }
    simt::sync_warp(simt::full_warp);
  }
  /// Returns the rank of this lane's item among the warp's items of its key; meaningless if the
  /// lane `has` none. Precondition: the key is below `Limit`. Collective over the warp.
  template <unsigned Limit = Keys>
  WARDEN_DEVICE std::uint32_t rank(std::uint32_t key, bool has) const {
    return rank_in_warp<Limit>(counts_[mine(key)], key, has);
  }

  /// State between `count` and `rank_of_counted`.
  struct counted {
    std::uint32_t before;  ///< items of the key that the warp had counted
    std::uint32_t rank;    ///< rank among all, in the order in which lanes happened to come
  };
  /// First half of `rank` for many keys, if a warp's items seldom have the same one: lanes count by
  /// atomics. No thread waits for their results here, so several calls may come before the second
  /// halves. Collective over the warp.
  WARDEN_DEVICE counted count(std::uint32_t key, bool has) const {
    std::uint32_t& both = reinterpret_cast<std::uint32_t*>(counts_.data())[mine(key) / 2];
    unsigned const shift = key % 2 * 16;
    std::uint32_t const before = counts_[mine(key)];
    simt::sync_warp(simt::full_warp);
    std::uint32_t const old = has ? simt::shared_fetch_add(both, 1u << shift) >> shift : before;
    simt::sync_warp(simt::full_warp);
    return {before, old & 0xffffu};
  }
  /// Second half of `rank`: puts the lanes that were not the first of their key in order, key by
  /// key. Collective over the warp.
  WARDEN_DEVICE static std::uint32_t rank_of_counted(counted c, std::uint32_t key, bool has) {
    for (unsigned late = simt::ballot(simt::full_warp, c.rank != c.before); late != 0;) {
      auto const first = static_cast<unsigned>(simt::first_bit(late));
      std::uint32_t const of_first = simt::shuffle(simt::full_warp, key, first);
      bool const is_peer = has && key == of_first;
      unsigned const peers = simt::ballot(simt::full_warp, is_peer);
      unsigned const below = peers & ((1u << simt::lane_id()) - 1);
      if (is_peer)
        c.rank = c.before + static_cast<unsigned>(simt::count_bits(below));  // mutation: late-ranks
      late &= ~peers;
    }
    return c.rank;
  }

  /// Returns the number of all items of the key. One thread for each key, after a block barrier.
  WARDEN_DEVICE std::uint32_t add_up(std::uint32_t key) const {
    std::uint32_t sum = 0;
    WARDEN_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      std::uint32_t const own = counts_[w * Keys + key];
      counts_[w * Keys + key] = static_cast<std::uint16_t>(sum);  // mutation: ranks-of-warps
      sum += own;
    }
    return sum;
  }
  /// Returns the number of items of the key before this warp's. Precondition: a second barrier.
  WARDEN_DEVICE std::uint32_t before(std::uint32_t key) const { return counts_[mine(key)]; }

 private:
  WARDEN_DEVICE static unsigned mine(std::uint32_t key) { return simt::warp_rank() * Keys + key; }

  simt::shared_span<std::uint16_t> counts_;  ///< [warp][key]
};

}  // namespace detail
WARDEN_NAMESPACE_END
