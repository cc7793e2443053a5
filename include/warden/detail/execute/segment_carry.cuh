// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sum of a segment of sorted messages over one thread, and over earlier threads.
#pragma once

#include <warden/detail/execute/section_words.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <cstring>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sum of several sections that combine to `Partial`: the partial, the number of sections, and the
/// slot of a partial among them.
template <class Partial>
class segment_carry {
  static constexpr unsigned words = (sizeof(Partial) + 3) / 4;

 public:
  /// Sum of no sections.
  segment_carry() = default;
  /// `wide` is the number of the slot, counted from 1, or 0.
  WARDEN_DEVICE segment_carry(Partial const& sum, unsigned count, unsigned wide)
      : tag_{count | wide << 16} {
    hold(sum);
  }

  /// Returns the sum of all messages of the segment so far.
  WARDEN_DEVICE Partial sum() const { return read_from<Partial>(words_); }
  /// Returns the number of narrow messages, below 2^15.
  WARDEN_DEVICE unsigned count() const { return tag_ & 0x7fffu; }
  /// Returns the slot of the segment's wide message, counted from 1, or 0.
  WARDEN_DEVICE unsigned wide() const { return tag_ >> 16; }

  /// Appends the messages of `next`.
  WARDEN_DEVICE void add(segment_carry const& next) { *this = joined(*this, next); }
  /// Puts the sections of `before` first.
  WARDEN_DEVICE void prepend(segment_carry const& before) { *this = joined(before, *this); }

  /// Joins the sections of the lanes of `having`, at least one, in every lane of it. Collective
  /// over the warp.
  [[nodiscard]] WARDEN_DEVICE segment_carry of_warp(unsigned having) const {
    segment_carry all = *this;
    WARDEN_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      unsigned const other_lane = simt::lane_id() ^ distance;
      segment_carry const other = all.from(other_lane);
      bool const has = (having >> simt::lane_id() & 1u) != 0;
      if ((having >> other_lane & 1u) != 0) {
        all = has ? joined(all, other) : other;  // mutation: long-run-lanes
      }
      // A lane without sections has those of the other lane from here on.
      unsigned const low = low_of_pairs(distance);
      having |= (having & low) << distance | (having >> distance & low);
    }
    return all;
  }

  /// Returns the sum of the earlier threads' part of the segment that `last` continues. `last` is
  /// each thread's last segment. If this thread's segment `begins`, returns the sum of the segment
  /// before, up to this thread. Uninitialized if there are no earlier threads. Collective;
  /// `carries` has one entry for each warp.
  template <unsigned Threads>
  WARDEN_DEVICE static segment_carry before(segment_carry (&carries)[Threads / 32],
                                            segment_carry last, bool begins) {
    unsigned const lane = simt::lane_id();
    if (begins) last.tag_ |= first;
    WARDEN_NO_UNROLL
    for (unsigned distance = 1; distance < simt::warp_size; distance *= 2) {
      segment_carry const other = last.from(lane < distance ? lane : lane - distance);
      if (lane >= distance && !last.is_first()) last.prepend(other);
    }
    if (lane == simt::warp_size - 1) carries[simt::warp_rank()] = last;
    last = last.from(lane == 0 ? 0 : lane - 1);
    simt::sync_block();
    unsigned w = simt::warp_rank();
    if (lane == 0 && w != 0) last = carries[--w];
    WARDEN_NO_UNROLL
    while (w != 0 && !last.is_first()) last.prepend(carries[--w]);
    last.tag_ &= ~first;
    return last;
  }

 private:
  /// Bit of a tag: the segment begins here.
  static constexpr std::uint32_t first = 1u << 15;

  /// Returns the lanes whose number has bit `distance` clear.
  WARDEN_DEVICE static constexpr unsigned low_of_pairs(unsigned distance) {
    return ~0u / ((1u << distance) + 1);
  }
  WARDEN_DEVICE bool is_first() const { return (tag_ & first) != 0; }
  WARDEN_DEVICE void hold(Partial const& sum) { memcpy(words_, &sum, sizeof(Partial)); }
  WARDEN_DEVICE static segment_carry joined(segment_carry const& a, segment_carry const& b) {
    segment_carry both;
    both.hold(Partial::combine(a.sum(), b.sum()));
    both.tag_ = ((a.tag_ & 0xffffu) + b.count()) | (a.wide() > b.wide() ? a.wide() : b.wide())
                                                       << 16;
    return both;
  }
  /// Returns the sum of another lane. Collective over the warp.
  WARDEN_DEVICE segment_carry from(unsigned lane) const {
    segment_carry other;
    WARDEN_UNROLL
    for (unsigned i = 0; i < words; ++i)
      other.words_[i] = simt::shuffle(simt::full_warp, words_[i], lane);
    other.tag_ = simt::shuffle(simt::full_warp, tag_, lane);
    return other;
  }

  std::uint32_t words_[words]{};
  std::uint32_t tag_ = 0;  ///< number of messages, `first`, and above them the slot of a partial
};

}  // namespace detail
WARDEN_NAMESPACE_END
