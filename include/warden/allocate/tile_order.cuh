// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places in order, in one pass: tiles are numbered as blocks take them, and a tile's places follow
/// those of the tiles before it, which it looks back at.
#pragma once

#include <warden/allocate/allocation_control.cuh>
#include <warden/diagnosis.hpp>
#include <warden/launch/watchdog.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// The tiles of one ordered allocation, for kernels.
///
/// A tile is a word: how many places it takes, once that is known (`sum`), then where those of the
/// next tile begin (`end`). Word and meaning are one 64-bit store, so no fence stands between: who
/// reads the word has all there is to know. A tile waits for tiles with smaller numbers alone, and
/// a running block took each of these: so waits end, whatever the number of resident blocks.
class tile_order {
 public:
  tile_order() = default;
  /// `tiles` words that are zero, `control` says that none is taken, and what `counter` says when
  /// the allocation begins is the first place.
  tile_order(std::uint64_t* words, std::uint64_t tiles, allocation_control* control,
             std::uint64_t* counter, time_limit limit)
      : words_{words}, tiles_{tiles}, control_{control}, counter_{counter}, limit_{limit} {}

  /// Tiles there are.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t tiles() const { return tiles_; }
  /// The number of a tile that no other thread gets. By one thread of a block.
  WARDEN_DEVICE std::uint64_t take() const {
    return simt::fetch_add(&control_->next, std::uint64_t{1});
  }
  /// Tells the tiles behind `tile` that it takes `count` places, as early as that is known. By one
  /// thread, once for each tile.
  WARDEN_DEVICE void announce(std::uint64_t tile, std::uint64_t count) const {
    if (tile == 0) return;
    simt::store_relaxed(&words_[tile], as_sum(least(count, no_place)));  // sabotage: announce
  }
  /// The first of the `count` places of `tile`, which its block has announced. Collective over a
  /// warp, once for each tile. No place if a wait took too long.
  WARDEN_DEVICE std::uint64_t first_place(std::uint64_t tile, std::uint64_t count) const {
    bool const is_first = simt::lane_id() == 0;
    std::uint64_t before;
    if (tile == 0) {
      // Only the last tile writes the counter, after it has looked back as far as tile 0: if that
      // is the same tile, behind the shuffle.
      before = simt::shuffle(simt::full_warp, is_first ? simt::load_relaxed(counter_) : 0, 0);
    } else {
      before = look_back(tile);
    }
    if (before == failed) return no_place;
    if (is_first) {
      std::uint64_t const after = least(before + least(count, no_place), no_place);
      simt::store_relaxed(&words_[tile], as_end(after));
      if (tile + 1 == tiles_) simt::store_relaxed(counter_, after);
    }
    return before;
  }
  /// Notes a call for no tile, or for one that has its places already. By one thread.
  WARDEN_DEVICE void note_again() const { simt::fetch_add(&control_->again, std::uint64_t{1}); }

  /// Notes that the calling block has other threads than its allocator. By one thread.
  WARDEN_DEVICE void note_wrong_block() const {
    simt::fetch_add(&control_->wrong_blocks, std::uint64_t{1});
  }

 private:
  // The two lowest bits say what the others are. 0: nothing yet.
  static constexpr std::uint64_t sum = 1, end = 2, kind = 3;
  static constexpr std::uint64_t failed = ~std::uint64_t{0};
  /// Sums end at `no_place`, so that those of 32 tiles do not wrap around.
  WARDEN_DEVICE static std::uint64_t least(std::uint64_t a, std::uint64_t b) {
    return a < b ? a : b;
  }
  WARDEN_DEVICE static std::uint64_t as_sum(std::uint64_t count) { return count << 2 | sum; }
  WARDEN_DEVICE static std::uint64_t as_end(std::uint64_t place) { return place << 2 | end; }

  /// Where the tile before ends: its own word says so, or those of tiles before that do, together.
  WARDEN_DEVICE std::uint64_t look_back(std::uint64_t tile) const {
    std::uint64_t before = 0;
    for (std::uint64_t next = tile;; next -= simt::warp_size) {
      // Lane 0 looks at the nearest tile. Tile 0 never has a sum, so it is the last to be asked.
      std::uint64_t const distance = simt::lane_id() + 1;
      std::uint64_t const word = distance <= next ? wait_for(next - distance) : as_end(0);
      if (simt::any(simt::full_warp, word == 0)) return failed;
      unsigned const ends = simt::ballot(simt::full_warp, (word & kind) == end);
      unsigned const last =
          ends == 0 ? simt::warp_size - 1 : static_cast<unsigned>(simt::first_bit(ends));
      bool const counts = simt::lane_id() <= last;  // sabotage: look-back-last
      before = least(before + sum_of_warp(counts ? word >> 2 : 0), no_place);
      bool const is_known = ends != 0;  // sabotage: look-back-end
      if (is_known) return before;
    }
  }
  /// The word of a tile, once it is there; 0 if it did not come in time.
  WARDEN_DEVICE std::uint64_t wait_for(std::uint64_t tile) const {
    std::uint64_t word = 0;
    watchdog patience{&control_->health, limit_};
    simt::wait_until(
        [&] {
          word = simt::load_relaxed(&words_[tile]);
          return word != 0;
        },
        [&] {
          return patience.hopeful([&] { return simt::load_relaxed(&control_->next); },
                                  [&] { give_up(tile); });
        },
        [&](auto watch) { watch(&words_[tile]); });
    return word;
  }
  WARDEN_DEVICE void give_up(std::uint64_t tile) const {
    failed_wait what{};
    what.kind = wait_kind::tile;
    what.block = simt::block_rank();
    what.thread = simt::thread_rank();
    what.index = tile;
    poison(&control_->health, what);
  }
  WARDEN_DEVICE static std::uint64_t sum_of_warp(std::uint64_t value) {
    WARDEN_UNROLL
    for (unsigned distance = simt::warp_size / 2; distance != 0; distance /= 2)
      value += simt::shuffle(simt::full_warp, value, simt::lane_id() ^ distance);
    return value;
  }

  std::uint64_t* words_ = nullptr;
  std::uint64_t tiles_ = 0;
  allocation_control* control_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  time_limit limit_{};
};

WARDEN_NAMESPACE_END
