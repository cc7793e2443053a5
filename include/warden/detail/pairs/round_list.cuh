// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lists the tile pairs of a schedule that have sections. A pair of tiles without sections is not
/// in the list and costs nothing.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/pairs/all_pairs_schedule.cuh>
#include <warden/detail/pairs/log_pairs.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One block's work. `Ref` is a rounds_ref. The list is in the order of rounds, with one exception:
/// tile pairs that are the first one of both their tiles come before all others, because a long one
/// among them delays no other tile pair. For each tile pair, the list holds the numbers of earlier
/// tile pairs of its tiles. So each tile is in one tile pair at a time.
template <class Ref>
class round_list {
  static constexpr unsigned threads = Ref::policy::block_threads;
  using schedule = typename Ref::schedule;
  using bins = typename Ref::bins_type;
  using scan = simt::block_scan<threads>;

 public:
  /// Bytes of shared memory for these tiles.
  static constexpr std::size_t shared_bytes(schedule const& all) {
    return layout{all}.carver.bytes();
  }

  /// Constructs the list's writer. `storage` is shared memory of `shared_bytes(schedule)` bytes,
  /// the same for the whole block.
  WARDEN_DEVICE round_list(Ref const& ref, std::byte* storage)
      : round_list{ref, storage, layout{ref.bins.schedule}} {}

  /// Writes the list, and resets the counters for its tile pairs. Collective.
  WARDEN_DEVICE void write() const {
    unsigned const me = simt::thread_rank();
    for (std::uint32_t w = me; w < present_.size(); w += threads)
      present_[w] = ref_.bins.present[w];
    for (std::uint32_t w = me; w < tile_pairs_.size(); w += threads)
      tile_pairs_[w] = firsts_[w] = 0;
    for (std::uint32_t w = me; w < rounds_.size(); w += threads) rounds_[w] = 0;
    simt::sync_block();
    for (std::uint32_t w = me; w < present_.size(); w += threads) mark_tile_pairs(w);
    simt::sync_block();
    for (std::uint32_t p = me; p < all_.tiles(); p += threads) first_of_[p] = first_tile_pair_of(p);
    simt::sync_block();
    for (std::uint32_t p = me; p < all_.tiles(); p += threads) move_first_tile_pair_of(p);
    simt::sync_block();
    std::uint32_t const firsts = number(firsts_, before_firsts_, 0);
    simt::sync_block();
    std::uint32_t const all = number(tile_pairs_, before_, firsts);
    if (me == 0) make_ready(all);
    simt::sync_block();
    for (std::uint32_t p = me; p < all_.tiles(); p += threads) {
      list_tile_pairs_of(p);
      ref_.bins.progress[p].finished = 0;
    }
  }

 private:
  struct layout {
    schedule all;
    std::uint32_t words = bins::words(all.tile_pairs());
    std::size_t bits = std::size_t{all.homes()} * bins::words(all.others());
    std::size_t rows = std::size_t{all.tiles()} * bins::words(all.rounds());
    arena_carver carver{};
    arena_piece<std::uint32_t> present = carver.take<std::uint32_t>(bits);
    arena_piece<std::uint32_t> rounds = carver.take<std::uint32_t>(rows);
    arena_piece<std::uint32_t> tile_pairs = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> before = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> firsts = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> before_firsts = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> first_of = carver.take<std::uint32_t>(all.tiles());
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
  };

  WARDEN_DEVICE round_list(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        all_{at.all},
        present_{at.present.in(storage)},
        rounds_{at.rounds.in(storage)},
        tile_pairs_{at.tile_pairs.in(storage)},
        before_{at.before.in(storage)},
        firsts_{at.firsts.in(storage)},
        before_firsts_{at.before_firsts.in(storage)},
        first_of_{at.first_of.in(storage)},
        scan_{at.scanning.in(storage)} {}

  /// Returns the words of a home's row of bits.
  WARDEN_DEVICE std::uint32_t home_words() const { return bins::words(all_.others()); }
  /// Returns the words of a tile's row of rounds.
  WARDEN_DEVICE std::uint32_t round_words() const { return bins::words(all_.rounds()); }
  WARDEN_DEVICE bool has(std::uint32_t home, std::uint32_t other) const {
    return (present_[home * home_words() + other / 32] >> other % 32 & 1u) != 0;
  }

  /// Marks the tile pairs of the bins in one word of a row. Each tile pair is marked once, so that
  /// additions can set the bits.
  WARDEN_DEVICE void mark_tile_pairs(std::uint32_t word) const {
    unsigned bits = present_[word];
    std::uint32_t const a = word / home_words();
    std::uint32_t const first = word % home_words() * 32;
    for (; bits != 0; bits &= bits - 1) {
      std::uint32_t const b = all_.tile_of(first + static_cast<unsigned>(simt::first_bit(bits)));
      if (a > b && has(b, a)) continue;
      std::uint32_t number = a;
      if (a != b) {
        std::uint32_t const round = all_.round_of(a, b);
        number = all_.tile_pair(a, round).number;
        mark(rounds_, a * round_words() * 32 + round);
        mark(rounds_, b * round_words() * 32 + round);
      }
      mark(tile_pairs_, number);
    }
  }
  WARDEN_DEVICE static void mark(simt::shared_span<std::uint32_t> bits, std::uint32_t number) {
    simt::shared_fetch_add(bits[number / 32], 1u << number % 32);
  }

  /// Returns the first tile pair of a tile, or `none`.
  WARDEN_DEVICE std::uint32_t first_tile_pair_of(std::uint32_t tile) const {
    if constexpr (schedule::pairs_with_itself) {
      if (has(tile, tile)) return tile;
    }
    for (std::uint32_t w = 0; w < round_words(); ++w) {
      unsigned const bits = rounds_[tile * round_words() + w];
      if (bits == 0) continue;
      return all_.tile_pair(tile, w * 32 + static_cast<unsigned>(simt::first_bit(bits))).number;
    }
    return none;
  }
  /// Moves the tile's first tile pair to the front of the list if it is the other tile's first one,
  /// too. Done by one of both tiles.
  WARDEN_DEVICE void move_first_tile_pair_of(std::uint32_t tile) const {
    std::uint32_t const tile_pair = first_of_[tile];
    if (tile_pair == none) return;
    two_tiles const tiles = all_.pair(tile_pair);
    bool const is_first_of_both = first_of_[tiles.b] == tile_pair;  // mutation: first-of-one
    if (tile != tiles.a || !is_first_of_both) return;
    mark(firsts_, tile_pair);
    simt::shared_fetch_add(tile_pairs_[tile_pair / 32], 0u - (1u << tile_pair % 32));
  }

  /// Computes how many tile pairs are listed before each 32 of `tile_pairs`, in addition to
  /// `earlier` ones. Returns `earlier` plus the number of all. Collective.
  WARDEN_DEVICE std::uint32_t number(simt::shared_span<std::uint32_t> tile_pairs,
                                     simt::shared_span<std::uint32_t> before,
                                     std::uint32_t earlier) const {
    std::uint32_t const words = tile_pairs.size();
    std::uint32_t const each = (words + threads - 1) / threads;
    std::uint32_t const first = simt::thread_rank() * each;
    std::uint32_t sum = 0, total;
    for (std::uint32_t w = first; w < first + each && w < words; ++w)
      sum += static_cast<std::uint32_t>(simt::count_bits(tile_pairs[w]));
    std::uint32_t next = earlier + scan::exclusive_sum(scan_[0], sum, total);
    for (std::uint32_t w = first; w < first + each && w < words; ++w) {
      before[w] = next;
      next += static_cast<std::uint32_t>(simt::count_bits(tile_pairs[w]));
    }
    return earlier + total;
  }
  /// Resets the counters. Called by one thread.
  WARDEN_DEVICE void make_ready(std::uint32_t tile_pairs) const {
    ref_.bins.control->tile_pairs = tile_pairs;
    ref_.bins.control->next_tile_pair = 0;
    ref_.bins.control->windows = 0;
  }

  /// Writes one tile's side of its tile pairs.
  WARDEN_DEVICE void list_tile_pairs_of(std::uint32_t tile) const {
    std::uint32_t turn = 0;
    if constexpr (schedule::pairs_with_itself) {
      if (has(tile, tile)) {
        ref_.bins.tile_pairs[place_of(tile)] = {tile, tile, 0, 0};
        turn = 1;
      }
    }
    for (std::uint32_t w = 0; w < round_words(); ++w) {
      for (unsigned bits = rounds_[tile * round_words() + w]; bits != 0; bits &= bits - 1) {
        auto const mine =
            all_.tile_pair(tile, w * 32 + static_cast<unsigned>(simt::first_bit(bits)));
        scheduled_pair& tile_pair = ref_.bins.tile_pairs[place_of(mine.number)];
        if (mine.is_a) {
          tile_pair.a = tile;
          tile_pair.earlier_a = turn;
        } else {
          tile_pair.b = tile;  // mutation: pair-twice
          tile_pair.earlier_b = turn;
        }
        ++turn;  // mutation: round-twice
      }
    }
  }
  WARDEN_DEVICE std::uint32_t place_of(std::uint32_t tile_pair) const {
    std::uint32_t const word = tile_pair / 32;
    unsigned const mine = 1u << tile_pair % 32;
    bool const is_first = (firsts_[word] & mine) != 0;
    unsigned const earlier = (is_first ? firsts_[word] : tile_pairs_[word]) & (mine - 1);
    return (is_first ? before_firsts_[word] : before_[word]) +
           static_cast<std::uint32_t>(simt::count_bits(earlier));
  }

  /// Number of no tile pair.
  static constexpr std::uint32_t none = ~0u;

  Ref const& ref_;
  schedule all_;
  simt::shared_span<std::uint32_t> present_;  ///< [home][word] as in memory
  simt::shared_span<std::uint32_t> rounds_;  ///< [tile][word] a bit for each round with a tile pair
  simt::shared_span<std::uint32_t> tile_pairs_;  ///< [word] a bit for each listed tile pair
  simt::shared_span<std::uint32_t> before_;      ///< [word] tile pairs listed before its first
  simt::shared_span<std::uint32_t> firsts_;  ///< [word] tile pairs that are the first of both tiles
  simt::shared_span<std::uint32_t> before_firsts_;  ///< [word] see `before_`
  simt::shared_span<std::uint32_t> first_of_;       ///< [tile] its first tile pair
  simt::shared_span<typename scan::storage> scan_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
