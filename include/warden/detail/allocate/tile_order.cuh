// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places in order, in one pass. Tiles are numbered as blocks take them. A tile's places follow
/// those of the tiles before it, whose counts it looks up.
#pragma once

#include <warden/detail/allocate/allocation_control.cuh>
#include <warden/detail/block/watchdog.cuh>
#include <warden/error.hpp>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The tiles of one ordered allocation, for kernels. Three kinds of words:
///
/// - counts: for each tile, the places that it takes.
/// - sums: for each group of 32 tiles, the places of its tiles, and the number of tiles that were
/// added.
/// - begins: for each group, its first place.
///
/// A tile looks back at the counts of its own group, at the sums of the groups before, and at their
/// begins, back to one that is known. These are three loads of a warp, which are in progress at the
/// same time. The first tile of a group stores where the group begins.
///
/// Each word is complete in one 64-bit access, so no fence is needed: a thread that reads a word
/// needs no other data. A tile waits only for tiles with smaller numbers, and a running block took
/// each of these. So all waits end, with any number of resident blocks.
class tile_order {
 public:
  tile_order() = default;
  /// Constructs the order. Precondition: `words` has `words_of(tiles)` zeros, and no tile of
  /// `control` is taken. The value of `counter` at the begin of the allocation is the first place.
  tile_order(std::uint64_t* words, std::uint64_t tiles, allocation_control* control,
             std::uint64_t* counter, time_limit limit)
      : counts_{words}, tiles_{tiles}, control_{control}, counter_{counter}, limit_{limit} {}
  /// Returns the number of words for `tiles` tiles.
  [[nodiscard]] static std::uint64_t words_of(std::uint64_t tiles) {
    return tiles + 2 * groups_of(tiles);
  }

  /// Returns the number of tiles.
  [[nodiscard]] WARDEN_HOST_DEVICE std::uint64_t tiles() const { return tiles_; }
  /// Takes a tile that no other thread gets. Called by one thread of a block.
  WARDEN_DEVICE std::uint64_t take() const {
    return simt::fetch_add(&control_->next, std::uint64_t{1});
  }
  /// Announces to the following tiles that `tile` takes `count` places, as early as that is known.
  /// Called by one thread, once for each tile.
  WARDEN_DEVICE void announce(std::uint64_t tile, std::uint64_t count) const {
    count = least(count, too_many);
    simt::store_relaxed(&counts_[tile], as_known(count));               // mutation: announce
    simt::fetch_add(&sums()[tile / group], count << counted_bits | 1);  // mutation: group-sum
  }
  /// Returns the first of the `count` places of `tile`, which its block has announced. Collective
  /// over a warp, once for each tile. Returns `no_place` if a wait took too long.
  WARDEN_DEVICE std::uint64_t first_place(std::uint64_t tile, std::uint64_t count) const {
    bool const is_first = simt::lane_id() == 0;
    std::uint64_t before;
    if (tile == 0) {
      // Only the last tile writes the counter, after it has looked back as far as tile 0. If the
      // last tile is tile 0, it writes after this shuffle.
      before = simt::shuffle(simt::full_warp, is_first ? simt::load_relaxed(counter_) : 0, 0);
    } else {
      before = look_back(tile);
    }
    if (before == failed) return no_place;
    // Sums end at `no_place`, so that they do not wrap around.
    if (before >= too_many) before = no_place;
    if (is_first) {
      if (tile % group == 0) simt::store_relaxed(&begins()[tile / group], as_known(before));
      if (tile + 1 == tiles_)
        simt::store_relaxed(counter_, least(before + least(count, no_place), no_place));
    }
    return before;
  }
  /// Notes a call without a tile, or for a tile that has its places already. Called by one thread.
  WARDEN_DEVICE void note_again() const { simt::fetch_add(&control_->again, std::uint64_t{1}); }

  /// Notes that the calling block has another number of threads than its allocator. Called by one
  /// thread.
  WARDEN_DEVICE void note_wrong_block() const {
    simt::fetch_add(&control_->wrong_blocks, std::uint64_t{1});
  }

 private:
  /// Tiles of a group, one for each lane.
  static constexpr unsigned group = simt::warp_size;
  /// The lowest bits of a sum are the number of tiles in it.
  static constexpr unsigned counted_bits = 6;
  static_assert(group < 1u << counted_bits);
  /// Count that no output has room for. The sum of 32 such tiles, which is shifted, does not wrap
  /// around, and neither does the total of 31 such sums, 31 tiles and a begin.
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
  /// Returns the word of a known count or begin. An unknown word is 0.
  WARDEN_DEVICE static std::uint64_t as_known(std::uint64_t value) { return value << 1 | 1; }
  WARDEN_DEVICE static bool is_known(std::uint64_t word) { return word != 0; }
  /// Returns true if a sum contains all tiles of its group.
  WARDEN_DEVICE static bool is_complete(std::uint64_t word) {
    return word % (1u << counted_bits) == group;
  }

  /// Returns the place after the last one of the tiles before `tile`, or `failed`.
  WARDEN_DEVICE std::uint64_t look_back(std::uint64_t tile) const {
    std::uint64_t const own_group = tile / group;
    unsigned const lane = simt::lane_id();
    // Each lane loads the count of a tile of this group, the begin of a group, and the sum of the
    // group before that one.
    bool const has_tile = lane < tile % group;  // mutation: look-back-count
    bool const has_begin = lane <= own_group, has_sum = lane < own_group;
    std::uint64_t const first = own_group * group;
    std::uint64_t count = has_tile ? simt::load_relaxed(&counts_[first + lane]) : as_known(0);
    std::uint64_t begin = has_begin ? simt::load_relaxed(&begins()[own_group - lane]) : 0;
    std::uint64_t sum = has_sum ? simt::load_relaxed(&sums()[own_group - lane - 1]) : group;

    if (!is_known(count)) count = wait_for(&counts_[first + lane], &is_known, first + lane);
    unsigned begun = simt::ballot(simt::full_warp, is_known(begin));
    if (begun == 0) {
      // The begin of the farthest group is known first.
      unsigned const last = own_group < group ? static_cast<unsigned>(own_group) : group - 1;
      if (lane == last)
        begin = wait_for(&begins()[own_group - last], &is_known, (own_group - last) * group);
      begun = 1u << last;
    }
    auto const nearest = static_cast<unsigned>(simt::first_bit(begun));
    bool const counts = lane < nearest;              // mutation: look-back-last
    bool const waits = counts && !is_complete(sum);  // mutation: look-back-sum
    if (waits)
      sum = wait_for(&sums()[own_group - lane - 1], &is_complete, (own_group - lane - 1) * group);
    begin = simt::shuffle(simt::full_warp, begin, nearest);
    if (simt::any(simt::full_warp, count == 0 || begin == 0 || (counts && sum == 0))) return failed;
    return (begin >> 1) + simt::warp_sum((count >> 1) + (counts ? sum >> counted_bits : 0));
  }
  /// Waits until the word is ready, which `tile` or a tile soon after it causes. Returns the word,
  /// or 0 if it was not ready in time.
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
    failed_wait failure{};
    failure.kind = wait_kind::tile;
    failure.block = simt::block_rank();
    failure.thread = simt::thread_rank();
    failure.index = tile;
    poison(&control_->health, failure);
  }
  std::uint64_t* counts_ = nullptr;
  std::uint64_t tiles_ = 0;
  allocation_control* control_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  time_limit limit_{};
};

}  // namespace detail
WARDEN_NAMESPACE_END
