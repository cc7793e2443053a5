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
    for (std::uint32_t w = me; w < present_.size(); w += threads)
      present_[w] = ref_.bins.present[w];
    for (std::uint32_t w = me; w < games_.size(); w += threads) games_[w] = 0;
    for (std::uint32_t w = me; w < rounds_.size(); w += threads) rounds_[w] = 0;
    simt::sync_block();
    for (std::uint32_t w = me; w < present_.size(); w += threads) mark_games(w);
    simt::sync_block();
    number_games();
    simt::sync_block();
    for (std::uint32_t p = me; p < parts(); p += threads) {
      list_games_of(p);
      ref_.bins.turns[p].played = 0;
    }
  }

 private:
  using bins = pair_bins<typename Ref::message_type>;
  struct layout {
    std::uint32_t parts;
    std::uint32_t words = bins::words(tournament{parts}.games());
    std::size_t rows = std::size_t{parts} * bins::words(parts);
    arena_carver carver{};
    arena_piece<std::uint32_t> present = carver.take<std::uint32_t>(rows);
    arena_piece<std::uint32_t> rounds = carver.take<std::uint32_t>(rows);
    arena_piece<std::uint32_t> games = carver.take<std::uint32_t>(words);
    arena_piece<std::uint32_t> before = carver.take<std::uint32_t>(words);
    arena_piece<typename scan::storage> scanning = carver.take<typename scan::storage>(1);
  };

  WARDEN_DEVICE round_list(Ref const& ref, std::byte* storage, layout const& at)
      : ref_{ref},
        all_{at.parts},
        present_{at.present.in(storage)},
        rounds_{at.rounds.in(storage)},
        games_{at.games.in(storage)},
        before_{at.before.in(storage)},
        scan_{at.scanning.in(storage)} {}

  WARDEN_DEVICE std::uint32_t parts() const { return ref_.bins.parts; }
  WARDEN_DEVICE std::uint32_t row_words() const { return bins::words(parts()); }
  WARDEN_DEVICE bool has(std::uint32_t home, std::uint32_t other) const {
    return (present_[home * row_words() + other / 32] >> other % 32 & 1u) != 0;
  }

  /// Marks the games of the bins in one word of a row: each game once, so that additions do.
  WARDEN_DEVICE void mark_games(std::uint32_t word) const {
    unsigned bits = present_[word];
    std::uint32_t const a = word / row_words();
    std::uint32_t const first = word % row_words() * 32;
    for (; bits != 0; bits &= bits - 1) {
      std::uint32_t const b = first + static_cast<unsigned>(simt::first_bit(bits));
      if (a > b && has(b, a)) continue;
      std::uint32_t number = a;
      if (a != b) {
        std::uint32_t const round = all_.round_of(a, b);
        number = all_.game(a, round).number;
        mark(rounds_, a * row_words() * 32 + round);
        mark(rounds_, b * row_words() * 32 + round);
      }
      mark(games_, number);
    }
  }
  WARDEN_DEVICE static void mark(simt::shared_span<std::uint32_t> bits, std::uint32_t number) {
    simt::shared_fetch_add(bits[number / 32], 1u << number % 32);
  }

  /// Finds how many games there are before each 32. Collective.
  WARDEN_DEVICE void number_games() const {
    std::uint32_t const words = games_.size();
    std::uint32_t const each = (words + threads - 1) / threads;
    std::uint32_t const first = simt::thread_rank() * each;
    std::uint32_t sum = 0, total;
    for (std::uint32_t w = first; w < first + each && w < words; ++w)
      sum += static_cast<std::uint32_t>(simt::count_bits(games_[w]));
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
    if (has(part, part)) {
      ref_.bins.games[place_of(part)] = {part, part, 0, 0};
      turn = 1;
    }
    for (std::uint32_t w = 0; w < row_words(); ++w) {
      for (unsigned bits = rounds_[part * row_words() + w]; bits != 0; bits &= bits - 1) {
        auto const mine = all_.game(part, w * 32 + static_cast<unsigned>(simt::first_bit(bits)));
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
  }
  WARDEN_DEVICE std::uint32_t place_of(std::uint32_t game) const {
    unsigned const earlier = games_[game / 32] & ((1u << game % 32) - 1);
    return before_[game / 32] + static_cast<std::uint32_t>(simt::count_bits(earlier));
  }

  Ref const& ref_;
  tournament all_;
  simt::shared_span<std::uint32_t> present_;  ///< [part][word] as in memory
  simt::shared_span<std::uint32_t> rounds_;   ///< [part][word] a bit for each round it plays in
  simt::shared_span<std::uint32_t> games_;    ///< [word] a bit for each game that is played
  simt::shared_span<std::uint32_t> before_;   ///< [word] games before its first
  simt::shared_span<typename scan::storage> scan_;
};

WARDEN_NAMESPACE_END
