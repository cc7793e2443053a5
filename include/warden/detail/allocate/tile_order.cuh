// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places in order, in one pass: tiles are numbered as blocks take them, and a tile's places follow
/// those of the tiles before it, which it looks back at.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/detail/block/watchdog.cuh>
#include <warden/diagnosis.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The tiles of one ordered allocation, for kernels.
///
/// | words | there is one for | it says |
/// |---|---|---|
/// | counts | each tile | how many places it takes |
/// | sums | each group of 32 tiles | how many its tiles take, and how many of these have said so |
/// | begins | each group | its first place |
///
/// A tile looks back at the counts of its own group, at the sums of the groups before, and at their
/// begins as far as one that is known: three loads of a warp, which do not wait for one another.
/// The first tile of a group tells where the group begins.
///
/// Word and meaning are one 64-bit access, so no fence stands between: who reads a word has all
/// there is to know. A tile waits for tiles with smaller numbers alone, and a running block took
/// each of these: so waits end, whatever the number of resident blocks.
class tile_order {
 public:
  tile_order() = default;
  /// `words_of(tiles)` words that are zero, `control` says that none is taken, and what `counter`
  /// says when the allocation begins is the first place.
  tile_order(std::uint64_t* words, std::uint64_t tiles, allocation_control* control,
             std::uint64_t* counter, time_limit limit)
      : counts_{words}, tiles_{tiles}, control_{control}, counter_{counter}, limit_{limit} {}
  /// Words that so many tiles need.
  [[nodiscard]] static std::uint64_t words_of(std::uint64_t tiles) {
    return tiles + 2 * groups_of(tiles);
  }

  /// Tiles there are.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t tiles() const { return tiles_; }
  /// The number of a tile that no other thread gets. By one thread of a block.
  WARDEN_DEVICE std::uint64_t take() const {
    return simt::fetch_add(&control_->next, std::uint64_t{1});
  }
  /// Tells the tiles behind `tile` that it takes `count` places, as early as that is known. By one
  /// thread, once for each tile.
  WARDEN_DEVICE void announce(std::uint64_t tile, std::uint64_t count) const {
    count = least(count, too_many);
    simt::store_relaxed(&counts_[tile], as_known(count));               // mutation: announce
    simt::fetch_add(&sums()[tile / group], count << counted_bits | 1);  // mutation: group-sum
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
    // Sums end there, so that they do not wrap around.
    if (before >= too_many) before = no_place;
    if (is_first) {
      if (tile % group == 0) simt::store_relaxed(&begins()[tile / group], as_known(before));
      if (tile + 1 == tiles_)
        simt::store_relaxed(counter_, least(before + least(count, no_place), no_place));
    }
    return before;
  }
  /// Notes a call for no tile, or for one that has its places already. By one thread.
  WARDEN_DEVICE void note_again() const { simt::fetch_add(&control_->again, std::uint64_t{1}); }

  /// Notes that the calling block has another number of threads than its allocator. By one thread.
  WARDEN_DEVICE void note_wrong_block() const {
    simt::fetch_add(&control_->wrong_blocks, std::uint64_t{1});
  }

 private:
  /// Tiles of a group, one for each lane.
  static constexpr unsigned group = simt::warp_size;
  /// The lowest bits of a sum say how many tiles are in it.
  static constexpr unsigned counted_bits = 6;
  static_assert(group < 1u << counted_bits);
  /// Places that no output has. 32 tiles with so many do not wrap their sum around, which is
  /// shifted, nor do 31 such sums, 31 tiles and a begin.
  static constexpr std::uint64_t too_many = (std::uint64_t{1} << 53) - 1;
  static constexpr std::uint64_t failed = ~std::uint64_t{0};

  WARDEN_HOST_DEVICE static std::uint64_t groups_of(std::uint64_t tiles) {
    return (tiles + group - 1) / group;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* sums() const { return counts_ + tiles_; }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t* begins() const { return sums() + groups_of(tiles_); }
  WARDEN_DEVICE static std::uint64_t least(std::uint64_t a, std::uint64_t b) {
    return a < b ? a : b;
  }
  /// Of counts and begins. A word that is zero is not known.
  WARDEN_DEVICE static std::uint64_t as_known(std::uint64_t value) { return value << 1 | 1; }
  WARDEN_DEVICE static bool is_known(std::uint64_t word) { return word != 0; }
  /// Of sums.
  WARDEN_DEVICE static bool is_complete(std::uint64_t word) {
    return word % (1u << counted_bits) == group;
  }

  /// Where the tile before ends.
  WARDEN_DEVICE std::uint64_t look_back(std::uint64_t tile) const {
    std::uint64_t const its = tile / group;
    unsigned const lane = simt::lane_id();
    // Each lane has a tile of this group, a group that may begin somewhere known, and the group
    // before that one.
    bool const has_tile = lane < tile % group;  // mutation: look-back-count
    bool const has_begin = lane <= its, has_sum = lane < its;
    std::uint64_t const first = its * group;
    std::uint64_t count = has_tile ? simt::load_relaxed(&counts_[first + lane]) : as_known(0);
    std::uint64_t begin = has_begin ? simt::load_relaxed(&begins()[its - lane]) : 0;
    std::uint64_t sum = has_sum ? simt::load_relaxed(&sums()[its - lane - 1]) : group;

    if (!is_known(count)) count = wait_for(&counts_[first + lane], &is_known, first + lane);
    unsigned begun = simt::ballot(simt::full_warp, is_known(begin));
    if (begun == 0) {
      // The farthest is known first.
      unsigned const last = its < group ? static_cast<unsigned>(its) : group - 1;
      if (lane == last) begin = wait_for(&begins()[its - last], &is_known, (its - last) * group);
      begun = 1u << last;
    }
    auto const nearest = static_cast<unsigned>(simt::first_bit(begun));
    bool const counts = lane < nearest;              // mutation: look-back-last
    bool const waits = counts && !is_complete(sum);  // mutation: look-back-sum
    if (waits) sum = wait_for(&sums()[its - lane - 1], &is_complete, (its - lane - 1) * group);
    begin = simt::shuffle(simt::full_warp, begin, nearest);
    if (simt::any(simt::full_warp, count == 0 || begin == 0 || (counts && sum == 0))) return failed;
    return (begin >> 1) + simt::warp_sum((count >> 1) + (counts ? sum >> counted_bits : 0));
  }
  /// The word, once it is ready, which `tile` or one soon after it does; 0 if it was not in time.
  WARDEN_DEVICE std::uint64_t wait_for(std::uint64_t const* word, bool (*is_ready)(std::uint64_t),
                                       std::uint64_t tile) const {
    std::uint64_t now = 0;
    watchdog patience{&control_->health, limit_};
    bool const is_there = simt::wait_until(
        [&] {
          now = simt::load_relaxed(word);
          return is_ready(now);
        },
        [&] {
          return patience.hopeful([&] { return simt::load_relaxed(&control_->next); },
                                  [&] { give_up(tile); });
        },
        [&](auto watch) { watch(word); });
    return is_there ? now : 0;
  }
  WARDEN_DEVICE void give_up(std::uint64_t tile) const {
    failed_wait what{};
    what.kind = wait_kind::tile;
    what.block = simt::block_rank();
    what.thread = simt::thread_rank();
    what.index = tile;
    poison(&control_->health, what);
  }
  std::uint64_t* counts_ = nullptr;
  std::uint64_t tiles_ = 0;
  allocation_control* control_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  time_limit limit_{};
};

}  // namespace detail
WARDEN_NAMESPACE_END
