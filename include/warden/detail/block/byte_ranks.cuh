// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks as in stable_ranks, in at most half the shared memory: for few items of a warp and many
/// keys.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/stable_ranks.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Ranks of a block's items among those of their key, in the order of the items: by warps, then by
/// calls of `rank`, then by lanes. Keys are below `Keys`.
///
/// A warp counts its own items, in one byte for each key. The bytes of 8 warps are one word. The
/// thread that places a key's items stores the begin of each 8 warps' items. A warp's own begin is
/// that value plus the sum of the bytes of the warps before it.
template <unsigned Threads, unsigned Keys>
class byte_ranks {
  static constexpr unsigned warps = Threads / simt::warp_size;
  static constexpr unsigned together = 8;
  static constexpr unsigned groups = (warps + together - 1) / together;

 public:
  /// Largest number of calls of `rank` between two calls of `clear`.
  static constexpr unsigned most_per_thread = 255 / simt::warp_size;
  /// False: counts stay valid as long as places do, so a `clear` is needed.
  static constexpr bool clears = false;

  /// A block's shared memory.
  struct pieces {
    /// Takes the memory.
    WARDEN_HOST_DEVICE constexpr explicit pieces(arena_carver& carver)
        : counts{carver.take<std::uint64_t>(std::size_t{groups} * Keys)},
          begins{carver.take<std::uint16_t>(std::size_t{groups} * Keys)} {}
    arena_piece<std::uint64_t> counts;  ///< [group][key] in bytes
    arena_piece<std::uint16_t> begins;  ///< [group][key]
  };

  /// Uses `storage` exclusively.
  WARDEN_DEVICE byte_ranks(pieces const& at, std::byte* storage)
      : counts_{at.counts.in(storage)}, begins_{at.begins.in(storage)} {}

  /// Starts again, for keys below `keys`. Collective; a barrier lies before the first rank.
  WARDEN_DEVICE void clear(std::uint32_t keys) const {
    for (std::uint32_t key = simt::thread_rank(); key < keys; key += Threads) {
      WARDEN_UNROLL
      for (unsigned g = 0; g < groups; ++g) counts_[g * Keys + key] = 0;
    }
    if (keys > few) return;
    for (unsigned w = simt::lane_id(); w < words; w += simt::warp_size) own_words()[w] = 0;
  }
  /// Returns the rank of this lane's item among the warp's items of its key; meaningless if the
  /// lane `has` none. Precondition: all keys are below `Limit`. Collective over the warp.
  template <unsigned Limit = Keys>
  WARDEN_DEVICE std::uint32_t rank(std::uint32_t key, bool has) const {
    unsigned char& counter = own_counters()[key * together];
    if constexpr (Limit > few || Limit == 1) {
      return rank_in_warp<Limit>(counter, key, has);
    } else {
      // Lanes meet in one word for each value of the key's low bits, which takes fewer steps than
      // to compare these bits. A word is zero before and afterwards: it is cleared once all lanes
      // have read it.
      std::uint32_t& word = own_words()[key % words];
      if (has) simt::shared_set_bits(word, 1u << simt::lane_id());
      simt::sync_warp(simt::full_warp);
      unsigned const alike = simt::match_below<Limit / words>(simt::full_warp, key / words);
      unsigned const peers = simt::shared_load(word) & alike;  // mutation: keys-of-word
      unsigned const below = peers & ((1u << simt::lane_id()) - 1);
      std::uint32_t const before = counter;
      simt::sync_warp(simt::full_warp);
      simt::shared_store(word, 0u);  // mutation: word-again
      if (has && below == 0) counter = static_cast<unsigned char>(before + simt::count_bits(peers));
      simt::sync_warp(simt::full_warp);
      return before + simt::count_bits(below);  // mutation: lanes-of-word
    }
  }

  /// Returns the number of items of the key. Precondition: a block barrier after the last `rank`.
  WARDEN_DEVICE std::uint32_t count(std::uint32_t key) const {
    std::uint32_t sum = 0;
    WARDEN_UNROLL
    for (unsigned g = 0; g < groups; ++g) sum += sum_of(counts_[g * Keys + key]);
    return sum;
  }
  /// Sets the place where the key's items begin. One thread for each key.
  WARDEN_DEVICE void begin_at(std::uint32_t key, std::uint32_t begin) const {
    WARDEN_UNROLL
    for (unsigned g = 0; g < groups; ++g) {
      begins_[g * Keys + key] = static_cast<std::uint16_t>(begin);
      begin += sum_of(counts_[g * Keys + key]);
    }
  }
  /// Returns the begin of the key's items. Precondition: a second barrier.
  WARDEN_DEVICE std::uint32_t begin_of(std::uint32_t key) const { return begins_[key]; }
  /// Returns the begin of the key's items of this warp.
  WARDEN_DEVICE std::uint32_t begin_in_warp(std::uint32_t key) const {
    unsigned const first = simt::warp_rank() / together * Keys;
    simt::shared_span<std::uint64_t> const counts{counts_.data() + first, Keys};
    simt::shared_span<std::uint16_t> const begins{begins_.data() + first, Keys};
    // Bytes of the warps before this one.
    std::uint64_t const earlier = (std::uint64_t{1} << simt::warp_rank() % together * 8) - 1;
    return begins[key] + sum_of(counts[key] & earlier);  // mutation: bytes-of-warps
  }

 private:
  /// Largest number of keys for which each warp has words among the counters of other keys.
  static constexpr unsigned few = Keys / 4, words = 64;
  static_assert(together * words * sizeof(std::uint32_t) <= (Keys - few) * sizeof(std::uint64_t));
  // One pointer for all keys, so that a key costs one instruction.
  /// [key * together] this warp's counters.
  WARDEN_DEVICE simt::shared_span<unsigned char> own_counters() const {
    unsigned const first = simt::warp_rank() / together * Keys * together;
    return {reinterpret_cast<unsigned char*>(counts_.data()) + first + simt::warp_rank() % together,
            Keys * together - simt::warp_rank() % together};
  }
  /// [word] this warp's words.
  WARDEN_DEVICE simt::shared_span<std::uint32_t> own_words() const {
    auto* const first = reinterpret_cast<std::uint32_t*>(counts_.data() +
                                                         simt::warp_rank() / together * Keys + few);
    return {first + simt::warp_rank() % together * words, words};
  }
  /// Returns the sum of a word's bytes.
  WARDEN_DEVICE static std::uint32_t sum_of(std::uint64_t word) {
    return simt::sum_of_bytes(static_cast<std::uint32_t>(word)) +
           simt::sum_of_bytes(static_cast<std::uint32_t>(word >> 32));
  }

  simt::shared_span<std::uint64_t> counts_;  ///< [eight warps][key] a byte for each warp
  simt::shared_span<std::uint16_t> begins_;  ///< [eight warps][key] begin of their items
};

}  // namespace detail
WARDEN_NAMESPACE_END
