// SPDX-License-Identifier: Apache-2.0
/// @file
/// The manager of a decoupled worklist: one warp, with a lane for each bucket.
#pragma once

#include "apps/shortest_paths/worklist.cuh"

#include <cstdint>

namespace shortest_paths {

template <class Distance>
class worklist_manager {
  // Groups of workers that are looked at together, so that the loads overlap.
  static constexpr unsigned looks_at_once = simt::has_registers ? 9 : 1;
  // Number of lowest buckets from which workers get entries.
  static constexpr unsigned open_buckets = 2;
  // Passes between two looks at how busy workers are, and changes of the first bucket after which
  // a new width is judged.
  static constexpr unsigned passes_of_an_epoch = simt::has_registers ? 64 : 4;
  static constexpr unsigned switches_to_settle = 3;
  // Shares of busy workers, in percent, below which buckets become wider, and above which they
  // become narrower. Wider buckets give work to more workers, but a larger part of it is in vain.
  static constexpr unsigned least_share = 20, most_share = 90;

 public:
  WARDEN_DEVICE explicit worklist_manager(worklist_state<Distance> const& s)
      : s_{s}, c_{*s.control}, lane_{simt::lane_id()}, shift_{s.shift} {}

  /// Runs until all entries are expanded. Called by one warp.
  WARDEN_DEVICE void run(std::uint32_t source) {
    begin(source);
    unsigned idle = 0;
    while (!is_over()) {
      allocate();
      bool const has_worked = hand_out();
      if (lane_ == 0) simt::add(&c_.beats, 1u);
      idle = has_worked ? 0 : idle + 1;
      if (idle != 0) simt::back_off(idle);
    }
    if (lane_ == 0) {
      simt::store_relaxed(&c_.over, 1u);
      c_.assignments = assignments_;
      c_.switches = switches_;
    }
    simt::fetch_add(&c_.entries, reserved_);
  }

 private:
  [[nodiscard]] WARDEN_DEVICE static unsigned workers() { return simt::block_count() - 1; }
  /// Returns the distance of this lane's bucket from the first one.
  [[nodiscard]] WARDEN_DEVICE unsigned order() const { return (lane_ - head_) % worklist_buckets; }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t segment_of(std::uint64_t entry) const {
    return static_cast<std::uint32_t>(
        simt::load_relaxed(s_.table_entry(lane_, entry / segment_entries)));
  }

  /// Returns the number of entries written in a segment of a bucket that has `segments` of them.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t written_in(unsigned bucket, std::uint64_t number,
                                                       std::uint64_t segments) const {
    if (number >= segments) return 0;
    std::uint64_t const word = simt::load_relaxed(s_.table_entry(bucket, number));
    return simt::load_relaxed(&s_.written[static_cast<std::uint32_t>(word)]);
  }
  WARDEN_DEVICE void begin(std::uint32_t source) {
    publish_order();
    allocate();
    if (lane_ != 0) return;
    std::uint32_t const segment = segment_of(0);
    simt::store_relaxed(&s_.entries[segment * std::uint64_t{segment_entries}], source);
    simt::store_relaxed(&s_.written[segment], 1u);
    simt::store_release(&c_.reserved[0].n, std::uint64_t{1});
  }
  WARDEN_DEVICE void publish_order() const {
    if (lane_ != 0) return;
    simt::store_relaxed(&c_.base, std::uint64_t{base_});
    simt::store_relaxed(&c_.head, head_);
    simt::store_relaxed(&c_.shift, shift_);
  }

  /// Gives segments to buckets that have few in advance, to one bucket after another.
  WARDEN_DEVICE void allocate() {
    for (;;) {
      std::uint64_t const used = reserved_ / segment_entries + 1;
      unsigned const all = simt::ballot(simt::full_warp, segments_ < used + segments_ahead / 2);
      if (all == 0) return;
      auto const bucket = static_cast<unsigned>(simt::first_bit(all));
      std::uint64_t const number = simt::shuffle(simt::full_warp, segments_, bucket) + lane_;
      std::uint64_t const most = simt::shuffle(simt::full_warp, used, bucket) + segments_ahead;
      bool const is_wanted = number < most;
      std::uint64_t const taken = taken_ + lane_;
      std::uint64_t word = 0;
      if (is_wanted) word = simt::load_acquire(&s_.free[taken % s_.segments]);
      // The ring is read in order: segments after one that is not there yet are left.
      unsigned const missing = ~simt::ballot(simt::full_warp, is_wanted && has_number(word, taken));
      unsigned const given =
          missing == 0 ? simt::warp_size : static_cast<unsigned>(simt::first_bit(missing));
      if (lane_ < given) {
        auto const segment = static_cast<std::uint32_t>(word);
        simt::store_relaxed(&s_.written[segment], 0u);
        simt::store_relaxed(&s_.read[segment], 0u);
        simt::store_release(s_.table_entry(bucket, number), numbered(number, segment));
      }
      if (lane_ == bucket) segments_ += given;
      taken_ += given;
      // Orders these stores before loads by other lanes.
      simt::sync_warp(simt::full_warp);  // mutation: worklist-table
      if (given == 0) return;
    }
  }

  /// Finds entries that have been written: in one segment of each bucket, and in as many as the
  /// warp has lanes of the first one. Returns true if all have been expanded, or the search has
  /// failed.
  WARDEN_DEVICE bool is_over() {
    done_ = simt::load_relaxed(&c_.done[lane_].n);
    std::uint64_t number = valid_ / segment_entries;
    std::uint32_t written = written_in(lane_, number, segments_);
    std::uint64_t const first = simt::shuffle(simt::full_warp, number, head_);
    std::uint32_t const of_first =
        written_in(head_, first + lane_, simt::shuffle(simt::full_warp, segments_, head_));
    // Orders these loads before that of the reserved entries, and the writing of the entries before
    // their assignment.
    simt::fence_device();  // mutation: worklist-written
    // No lane reads reserved entries before another lane has read those that are done.
    simt::sync_warp(simt::full_warp);  // mutation: worklist-end
    reserved_ = simt::load_relaxed(&c_.reserved[lane_].n);
    unsigned const partly = ~simt::ballot(simt::full_warp, of_first == segment_entries);
    unsigned const last =
        partly == 0 ? simt::warp_size - 1 : static_cast<unsigned>(simt::first_bit(partly));
    std::uint32_t const of_last = simt::shuffle(simt::full_warp, of_first, last);
    if (lane_ == head_) {
      number += last;  // mutation: worklist-full
      written = of_last;
    }
    std::uint64_t const begin = number * segment_entries;
    bool const is_all = begin + written == reserved_;  // mutation: worklist-partly
    if (begin > valid_) valid_ = begin;
    if (written == segment_entries) {
      valid_ = begin + segment_entries;
    } else if (is_all) {
      valid_ = reserved_;
    }
    // Entries are reserved before the entry that led to them is done, and `done` was read first. So
    // if all are equal none was being expanded when the first was read.
    if (!simt::any(simt::full_warp, done_ != reserved_)) return true;
    bool const is_bad = simt::load_relaxed(&c_.failed) != 0 || simt::load_relaxed(&c_.too_far) != 0;
    bool const lasts =
        simt::any(simt::full_warp, patience_.lasts(static_cast<std::uint32_t>(done_ + reserved_)));
    if (!lasts) simt::store_relaxed(&c_.failed, 1u);
    return simt::any(simt::full_warp, is_bad);
  }

  /// Gives entries to idle workers. Returns true if one got some.
  WARDEN_DEVICE bool hand_out() {
    switch_buckets();
    unsigned busy = 0;
    bool has_worked = false;
    // Orders the fences of all lanes before the assignments by any lane.
    simt::sync_warp(simt::full_warp);
    for (unsigned first = 0; first < workers(); first += looks_at_once * simt::warp_size) {
      bool is_idle[looks_at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < looks_at_once; ++k) {
        unsigned const w = first + k * simt::warp_size + lane_;
        is_idle[k] = w < workers() && simt::load_relaxed(&s_.assigned[w]) == 0;
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < looks_at_once; ++k)
        busy += hand_out(first + k * simt::warp_size, is_idle[k], has_worked);
    }
    judge(busy);
    return has_worked;
  }
  /// Gives entries to idle workers from `first` on, one for each lane. Returns the number of busy
  /// ones.
  WARDEN_DEVICE unsigned hand_out(unsigned first, bool is_idle, bool& has_worked) {
    unsigned const w = first + lane_;
    unsigned idle = simt::ballot(simt::full_warp, is_idle);
    while (idle != 0) {
      unsigned const given = give(idle, w);
      if (given == 0) break;
      idle &= ~given;
      has_worked = true;
    }
    unsigned const all = simt::ballot(simt::full_warp, w < workers());
    return static_cast<unsigned>(simt::count_bits(all & ~idle));
  }
  /// Gives entries of the first bucket that has some to idle workers, lane by lane, in equal pieces
  /// that do not leave their segments. Returns the lanes whose workers, `w`, got some.
  WARDEN_DEVICE unsigned give(unsigned idle, unsigned w) {
    std::uint64_t const available = valid_ - assigned_;
    bool const offers = available != 0 && order() < open_buckets;
    unsigned const best = simt::warp_min(offers ? order() : worklist_buckets);
    if (best == worklist_buckets) return 0;
    unsigned const bucket = (head_ + best) % worklist_buckets;
    std::uint64_t const begin = simt::shuffle(simt::full_warp, assigned_, bucket);
    std::uint64_t const end = simt::shuffle(simt::full_warp, valid_, bucket);
    // Pieces begin at multiples of their size, a power of 2 that divides a segment.
    std::uint64_t const most = simt::warp_size * segment_entries;
    auto const share = static_cast<std::uint32_t>(end - begin < most ? end - begin : most) /
                       static_cast<unsigned>(simt::count_bits(idle));
    unsigned size = simt::warp_size < segment_entries ? simt::warp_size : segment_entries;
    while (size < segment_entries && 2 * size <= share) size *= 2;
    auto const rank = static_cast<unsigned>(simt::count_bits(idle & ((1u << lane_) - 1)));
    std::uint64_t const first = begin & ~std::uint64_t{size - 1};
    std::uint64_t const piece = first + std::uint64_t{rank} * size;
    std::uint64_t const from = piece < begin ? begin : piece;
    std::uint64_t const to = piece + size < end ? piece + size : end;
    bool const gets = (idle >> lane_ & 1) != 0 && from < to;
    if (gets) {
      auto const segment = static_cast<std::uint32_t>(
          simt::load_relaxed(s_.table_entry(bucket, from / segment_entries)));
      auto const place =
          static_cast<std::uint32_t>(segment * segment_entries + from % segment_entries);
      auto const word = assignment{place, bucket, static_cast<unsigned>(to - from)}.word();
      // By the lane that found the worker idle: its store cannot come before the worker's.
      simt::store_release(&s_.assigned[w], word);  // mutation: worklist-assign
    }
    unsigned const given = simt::ballot(simt::full_warp, gets);
    assignments_ += static_cast<unsigned>(simt::count_bits(given));
    std::uint64_t const last =
        first + std::uint64_t{size} * static_cast<unsigned>(simt::count_bits(given));
    if (lane_ == bucket) assigned_ = last < end ? last : end;
    return given;
  }

  /// Makes the first bucket that is not done the first one.
  WARDEN_DEVICE void switch_buckets() {
    unsigned const next = simt::warp_min(done_ != reserved_ ? order() : worklist_buckets);
    if (next == 0 || next == worklist_buckets) return;
    base_ = static_cast<Distance>(base_ + (Distance{next} << shift_));
    head_ = (head_ + next) % worklist_buckets;
    ++switches_;
    ++settled_;
    publish_order();
  }
  /// Changes the width of buckets if few or nearly all workers are busy.
  WARDEN_DEVICE void judge(unsigned busy) {
    busy_ += busy;
    if (++passes_ < passes_of_an_epoch) return;
    unsigned const share = busy_ * 100 / (passes_ * workers());
    passes_ = busy_ = 0;
    if (s_.adapts && settled_ >= switches_to_settle &&
        (share < least_share || share > most_share)) {
      if (share < least_share && shift_ < most_shift<Distance>) ++shift_;
      if (share > most_share && shift_ != 0) --shift_;
      settled_ = 0;
      publish_order();
    }
  }

  worklist_state<Distance> const& s_;
  worklist_control& c_;
  unsigned lane_;
  // Counts of this lane's bucket.
  std::uint64_t reserved_ = 0, done_ = 0;
  std::uint64_t valid_ = 0;     ///< entries that have been written
  std::uint64_t assigned_ = 0;  ///< entries that workers were given
  std::uint64_t segments_ = 0;  ///< segments that the bucket was given
  patience patience_;
  // Members that are equal in all lanes.
  std::uint64_t taken_ = 0;  ///< segments taken out of the ring
  Distance base_ = 0;
  unsigned head_ = 0, shift_;
  unsigned passes_ = 0, busy_ = 0, settled_ = 0;
  std::uint32_t assignments_ = 0, switches_ = 0;
};

}  // namespace shortest_paths
