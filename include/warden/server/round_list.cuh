// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lists the games of a tournament that have sections: a pair of parts without any is not played,
/// not loaded, and costs nothing.
#pragma once

#include <warden/block/arena_carver.cuh>
#include <warden/block/tournament.cuh>
#include <warden/channel/log_pairs.cuh>
#include <warden/simt/collective.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// One block's work, for `Ref`, a rounds_ref. The list is in the order of rounds, and says of each
/// game how many those who play it have played before: so each part is in one game at a time.
template <class Ref>
class round_list {
  static constexpr unsigned threads = Ref::policy::block_threads;
  using scan = simt::block_scan<threads>;

 public:
  /// Bytes of shared memory for so many parts.
  static constexpr std::size_t shared_bytes(std::uint32_t parts) {
    return layout{parts}.carver.bytes();
  }

  /// `storage` is shared memory of `shared_bytes(parts)` bytes, the same for the whole block.
  WARDEN_DEVICE round_list(Ref const& ref, std::byte* storage)
      : round_list{ref, storage, layout{ref.bins.parts}} {}

  /// Writes the list, and makes ready for its games. Collective.
  WARDEN_DEVICE void write() const {
    unsigned const me = simt::thread_rank();
    for (std::uint32_t w = me; w < parts() * row_words(); w += threads)
      present_[w] = ref_.bins.present[w];
    simt::sync_block();
    number_games();
    simt::sync_block();
    for (std::uint32_t p = me; p < parts(); p += threads) {
      list_games_of(p);
      ref_.bins.turns[p].played = 0;
    }
  }

 private:
  struct layout {
    std::uint32_t parts;
    std::uint32_t words = pair_bins<typename Ref::message_type>::words(tournament{parts}.games());
    arena_carver carver{};
    arena_piece<std::uint32_t> present = carver.take<std::uint32_t>(
        std::size_t{parts} * pair_bins<typename Ref::message_type>::words(parts));
    arena_piece<std::uint32_t> games = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> before = carver.take<std::uint32_t>(words);
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
  };

  WARDEN_DEVICE round_list(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        all_{at.parts},
        present_{at.present.in(storage)},
        games_{at.games.in(storage)},
        before_{at.before.in(storage)},
        scan_{at.scanning.in(storage)} {}

  WARDEN_DEVICE std::uint32_t parts() const { return ref_.bins.parts; }
  WARDEN_DEVICE std::uint32_t row_words() const {
    return pair_bins<typename Ref::message_type>::words(parts());
  }
  WARDEN_DEVICE bool has(std::uint32_t home, std::uint32_t other) const {
    return (present_[home * row_words() + other / 32] >> other % 32 & 1u) != 0;
  }

  /// Finds which games have sections, and how many there are before each 32. Collective.
  WARDEN_DEVICE void number_games() const {
    std::uint32_t const words = games_.size();
    std::uint32_t const each = (words + threads - 1) / threads;
    std::uint32_t const first = simt::thread_rank() * each;
    std::uint32_t sum = 0, total;
    if (first < words) {
      std::uint32_t number = first * 32;
      tournament::walk at{all_, number};
      for (std::uint32_t w = first; w < first + each && w < words; ++w) {
        unsigned bits = 0;
        for (unsigned i = 0; i < 32 && number < all_.games(); ++i, ++number, at.next()) {
          part_pair const pair = at.pair();
          if (has(pair.a, pair.b) || has(pair.b, pair.a)) bits |= 1u << i;
        }
        games_[w] = bits;
        sum += static_cast<std::uint32_t>(simt::count_bits(bits));
      }
    }
    std::uint32_t before = scan::exclusive_sum(scan_[0], sum, total);
    for (std::uint32_t w = first; w < first + each && w < words; ++w) {
      before_[w] = before;
      before += static_cast<std::uint32_t>(simt::count_bits(games_[w]));
    }
    if (simt::thread_rank() != 0) return;
    ref_.bins.control->games = total;
    ref_.bins.control->next_game = 0;
    ref_.bins.control->windows = 0;
    ref_.bins.control->placed = 0;  // of the next run
  }

  /// One part's side of its games.
  WARDEN_DEVICE void list_games_of(std::uint32_t part) const {
    std::uint32_t turn = 0;
    if (is_played(part)) {
      ref_.bins.games[place_of(part)] = {part, part, 0, 0};
      turn = 1;
    }
    for (std::uint32_t r = 0; r < all_.rounds(); ++r) {
      auto const mine = all_.game(part, r);
      if (!mine.plays || !is_played(mine.number)) continue;
      round_game& game = ref_.bins.games[place_of(mine.number)];
      if (mine.is_a) {
        game.a = part;
        game.turn_a = turn;
      } else {
        game.b = part;
        game.turn_b = turn;
      }
      ++turn;
    }
  }
  WARDEN_DEVICE bool is_played(std::uint32_t game) const {
    return (games_[game / 32] >> game % 32 & 1u) != 0;
  }
  WARDEN_DEVICE std::uint32_t place_of(std::uint32_t game) const {
    unsigned const earlier = games_[game / 32] & ((1u << game % 32) - 1);
    return before_[game / 32] + static_cast<std::uint32_t>(simt::count_bits(earlier));
  }

  Ref const& ref_;
  tournament all_;
  simt::shared_span<std::uint32_t> present_;  ///< [part][word] as in memory
  simt::shared_span<std::uint32_t> games_;    ///< [word] a bit for each game that is played
  simt::shared_span<std::uint32_t> before_;   ///< [word] games before its first
  simt::shared_span<typename scan::storage> scan_;
};

WARDEN_NAMESPACE_END
