// SPDX-License-Identifier: Apache-2.0
/// @file
/// Strategies by which the threads of a block share the arcs of its places [Merrill 2011,
/// section 6.3]. Each is a type. All are collective over the block.
///
/// `start(mine)` takes a place of each thread, perhaps an empty one; then `next(all)` gives each
/// thread up to `arcs_at_once` arcs until it returns false, to all threads alike; `from(k)` is the
/// vertex that the k-th of these leaves.
#pragma once

#include "apps/breadth_first/state.cuh"

#include <warden/simt/collective.cuh>

#include <cstdint>

namespace breadth_first {

/// Arcs that a thread follows next.
struct some_arcs {
  std::uint32_t arc[arcs_at_once];
  bool is_one[arcs_at_once];
};

/// Each thread follows the arcs of its own place. Neighbouring threads read distant arcs.
class gather_serial {
 public:
  struct storage {};

  WARDEN_DEVICE explicit gather_serial(storage&) {}
  WARDEN_DEVICE void start(place const& mine) { left_ = mine; }
  WARDEN_DEVICE bool next(some_arcs& all) {
    if (!simt::sync_block_or(left_.arcs != 0)) return false;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      all.is_one[k] = k < left_.arcs;
      all.arc[k] = left_.begin + k;
    }
    std::uint32_t const taken = left_.arcs < arcs_at_once ? left_.arcs : arcs_at_once;
    left_.begin += taken;
    left_.arcs -= taken;
    return true;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t from(unsigned) const { return left_.vertex; }

 private:
  place left_{};
};

/// A warp follows the arcs of its lanes' places, one place after another. Neighbouring lanes read
/// neighbouring arcs. Short rows leave most lanes without an arc.
class gather_warp {
 public:
  struct storage {};

  WARDEN_DEVICE explicit gather_warp(storage&) {}
  WARDEN_DEVICE void start(place const& mine) {
    mine_ = mine;
    waiting_ = simt::ballot(simt::full_warp, mine.arcs != 0);
    now_ = {};
  }
  WARDEN_DEVICE bool next(some_arcs& all) {
    if (now_.arcs == 0 && waiting_ != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(waiting_));
      waiting_ &= waiting_ - 1;
      now_.vertex = simt::shuffle(simt::full_warp, mine_.vertex, lane);
      now_.arcs = simt::shuffle(simt::full_warp, mine_.arcs, lane);
      now_.begin = simt::shuffle(simt::full_warp, mine_.begin, lane);
    }
    if (!simt::sync_block_or(now_.arcs != 0)) return false;
    constexpr std::uint32_t most = arcs_at_once * simt::warp_size;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      std::uint32_t const i = k * simt::warp_size + simt::lane_id();
      all.is_one[k] = i < now_.arcs;
      all.arc[k] = now_.begin + i;
    }
    std::uint32_t const taken = now_.arcs < most ? now_.arcs : most;
    now_.begin += taken;
    now_.arcs -= taken;
    return true;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t from(unsigned) const { return now_.vertex; }

 private:
  place mine_{},
      now_{};  ///< place of the lane, and current place of the warp, which is the same in all lanes
  unsigned waiting_ = 0;  ///< lanes whose places are not done
};

/// The block follows the arcs of all its places, packed without gaps. A sum over the earlier places
/// gives the position of each place's arcs. They are written into a window of shared memory, from
/// which each thread takes its share.
///
/// A thread writes its own place's arcs if they are fewer than `WarpFrom`, otherwise its warp does.
/// Places of `BlockFrom` arcs or more are not written: the block follows one at a time.
template <std::uint32_t WarpFrom, std::uint32_t BlockFrom>
class gather_scan {
  static constexpr unsigned threads = search_threads;
  static constexpr std::uint32_t window = threads * arcs_at_once;
  static constexpr unsigned warps = threads / simt::warp_size;
  static constexpr bool has_long = BlockFrom <= most_arcs_of_a_place;
  static_assert(most_arcs_of_a_place <= window, "the block follows a long place at once");
  static_assert(warps <= simt::warp_size);
  using sum = simt::block_scan<threads, true>;

 public:
  struct storage {
    typename sum::storage scan;
    std::uint32_t vertex[threads], count[threads], begin[threads];  ///< for each thread's place
    std::uint32_t arcs[window], from[window];
    std::uint32_t long_ones[warps];  ///< [warp] its lanes with long places
  };

  WARDEN_DEVICE explicit gather_scan(storage& s) : storage_{s} {}

  WARDEN_DEVICE void start(place const& mine) {
    // All threads have read the storage of the previous places.
    simt::sync_block();
    done_ = 0;
    simt::shared_store(storage_.vertex[simt::thread_rank()], mine.vertex);
    simt::shared_store(storage_.count[simt::thread_rank()], mine.arcs);
    simt::shared_store(storage_.begin[simt::thread_rank()], mine.begin);
    bool const is_long = has_long && mine.arcs >= BlockFrom;
    if constexpr (has_long) {
      unsigned const lanes = simt::ballot(simt::full_warp, is_long);
      if (simt::lane_id() == 0) simt::shared_store(storage_.long_ones[simt::warp_rank()], lanes);
    }
    before_ = sum::exclusive_sum(storage_.scan, is_long ? 0 : mine.arcs, all_);
    if constexpr (has_long) {
      // Read after the barriers of the sum. Every warp finds the same lanes.
      std::uint32_t const lanes =
          simt::lane_id() < warps ? simt::shared_load(storage_.long_ones[simt::lane_id()]) : 0;
      warps_left_ = simt::ballot(simt::full_warp, lanes != 0);
      lanes_left_ = 0;
    }
  }

  WARDEN_DEVICE bool next(some_arcs& all) {
    if constexpr (has_long) {
      if (next_long(all)) return true;
    }
    if (done_ >= all_) return false;
    // The window has been read.
    simt::sync_block();
    fill_window();
    simt::sync_block();
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      std::uint32_t const i = k * threads + simt::thread_rank();
      all.is_one[k] = i < all_ - done_;
      if (all.is_one[k]) all.arc[k] = simt::shared_load(storage_.arcs[i]);
    }
    done_ += window;
    return true;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t from(unsigned k) const {
    // Long places are followed before the first window.
    if (has_long && done_ == 0) return simt::shared_load(storage_.vertex[long_]);
    return simt::shared_load(storage_.from[k * threads + simt::thread_rank()]);
  }

 private:
  WARDEN_DEVICE bool next_long(some_arcs& all) {
    if (warps_left_ == 0) return false;
    auto const warp = static_cast<unsigned>(simt::first_bit(warps_left_));
    if (lanes_left_ == 0) lanes_left_ = simt::shared_load(storage_.long_ones[warp]);
    long_ = warp * simt::warp_size + static_cast<unsigned>(simt::first_bit(lanes_left_));
    lanes_left_ &= lanes_left_ - 1;
    if (lanes_left_ == 0) warps_left_ &= warps_left_ - 1;
    std::uint32_t const begin = simt::shared_load(storage_.begin[long_]);
    std::uint32_t const arcs = simt::shared_load(storage_.count[long_]);
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      std::uint32_t const i = k * threads + simt::thread_rank();
      all.is_one[k] = i < arcs;
      all.arc[k] = begin + i;
    }
    return true;
  }
  /// Writes the arcs that belong to this window, of a place whose first arc is number `before`:
  /// every `step`-th from `first` on.
  WARDEN_DEVICE void write(place const& of, std::uint32_t before, std::uint32_t first,
                           std::uint32_t step) const {
    std::uint32_t const from = before < done_ ? done_ - before : 0;
    std::uint32_t const end = before >= done_ + window            ? 0
                              : of.arcs < done_ + window - before ? of.arcs
                                                                  : done_ + window - before;
    for (std::uint32_t i = from + first; i < end; i += step) {
      simt::shared_store(storage_.arcs[before + i - done_], of.begin + i);
      simt::shared_store(storage_.from[before + i - done_], of.vertex);
    }
  }
  [[nodiscard]] WARDEN_DEVICE place place_of(unsigned thread) const {
    return {simt::shared_load(storage_.vertex[thread]), simt::shared_load(storage_.count[thread]),
            simt::shared_load(storage_.begin[thread])};
  }
  WARDEN_DEVICE void fill_window() const {
    place const mine = place_of(simt::thread_rank());
    if (mine.arcs < WarpFrom) write(mine, before_, 0, 1);
    bool const is_warps = mine.arcs >= WarpFrom && mine.arcs < BlockFrom;
    unsigned left = simt::ballot(
        simt::full_warp, is_warps && before_ < done_ + window && before_ + mine.arcs > done_);
    while (left != 0) {
      auto const lane = static_cast<unsigned>(simt::first_bit(left));
      left &= left - 1;
      place const its = place_of(simt::warp_rank() * simt::warp_size + lane);
      write(its, simt::shuffle(simt::full_warp, before_, lane), simt::lane_id(), simt::warp_size);
    }
  }

  storage& storage_;
  std::uint32_t before_ = 0;  ///< arcs of the places before
  std::uint32_t all_ = 0;     ///< arcs of all places
  std::uint32_t done_ = 0;    ///< arcs in earlier windows
  // Long places still to come, the same in all threads.
  unsigned warps_left_ = 0, lanes_left_ = 0;
  unsigned long_ = 0;  ///< the thread whose long place is followed
};

/// Each thread writes the arcs of its own place.
using gather_by_scan = gather_scan<0xffffffff, 0xffffffff>;
/// Rows longer than a warp are written by warps, rows longer than a block are followed by the
/// block.
using gather_by_all = gather_scan<simt::warp_size, search_threads>;

}  // namespace breadth_first
