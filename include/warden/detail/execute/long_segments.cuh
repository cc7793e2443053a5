// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines the remaining sections of a hot record in a window of a log: its owner thread would run
/// them one after another, and the block would wait for it.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/execute/segment_carry.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Combines the long segments of a window of `Ref`'s messages, which is sorted by owner thread.
template <class Ref>
class long_segments {
  using message_type = typename Ref::message_type;
  using section = typename Ref::section;

 public:
  /// The section that several sections combine to.
  using partial = typename Ref::formats::partial;

  /// Combines the long segments of a warp's threads. A thread with many more messages than the
  /// others gets its messages from `begin` to `end` - 1 that are for one record combined, and runs
  /// the partial by `apply(local, partial)`. Returns the end of this thread's remaining messages.
  /// Collective over the warp.
  template <class Apply>
  WARDEN_DEVICE static std::uint32_t combine(simt::shared_span<message_type> window,
                                             std::uint32_t begin, std::uint32_t end, Apply apply) {
    auto const longer_than = [&](std::uint32_t messages) {
      return simt::ballot(simt::full_warp, end - begin > messages);
    };
    unsigned left = longer_than(least);
    if (left == 0) return end;
    // Owners run their segments concurrently; a warp combines one segment after another. Many
    // segments of equal length are left to the owners.
    left = longer_than(least + each * static_cast<unsigned>(simt::count_bits(left)));
    if (left == 0 || simt::count_bits(left) > most) return end;
    std::uint32_t const mine = (left >> simt::lane_id() & 1u) != 0 ? end - begin : 0;
    std::uint32_t const longest = ~simt::warp_min(~mine);
    if (simt::warp_sum(mine) >= owners * longest) return end;
    WARDEN_NO_UNROLL
    for (; left != 0; left &= left - 1) {
      auto const owner = static_cast<unsigned>(simt::first_bit(left));
      segment whole{simt::shuffle(simt::full_warp, begin, owner),
                    simt::shuffle(simt::full_warp, end, owner)};
      bool goes_on = true;
      while (goes_on) {
        std::uint32_t const before = whole.end - whole.begin;
        std::uint32_t const local = window[whole.middle()].local();
        partials const all = take_out(window, whole);
        if (simt::lane_id() == owner) apply(local, all.sum());  // mutation: long-run
        // An owner may have several hot records: continues as long as each has half of the rest.
        std::uint32_t const after = whole.end - whole.begin;
        goes_on = after > least && after * 2 < before;
      }
      if (simt::lane_id() == owner) end = whole.end;
    }
    return end;
  }

 private:
  using partials = segment_carry<partial>;
  /// Messages that a thread runs while its warp combines: `least`, and `each` for every segment.
  static constexpr std::uint32_t least = 40, each = 24;
  /// Number of segments that a warp combines in less time than their owners run them.
  static constexpr int most = 4;
  /// Number of owners that run their segments concurrently in the time in which a warp combines as
  /// many messages of each.
  static constexpr std::uint32_t owners = 3;
  /// Messages of a lane whose loads are in flight together.
  static constexpr unsigned ahead = sizeof(message_type) <= 16 ? 4 : 2;

  /// The messages of one owner.
  struct segment {
    std::uint32_t begin, end;
    /// Returns a message that is most likely for the most frequent record.
    [[nodiscard]] WARDEN_DEVICE std::uint32_t middle() const { return begin + (end - begin) / 2; }
  };

  WARDEN_DEVICE static section section_of(message_type const& m) {
    return Ref::format::template unpack<section>(m);
  }
  WARDEN_DEVICE static combining_key<section> key_of(message_type const& m) {
    if constexpr (has_combine_key<section>) {
      return combining_key_of(m.local(), section_of(m));
    } else {
      return m.local();
    }
  }

  /// Removes from a segment the messages that combine with its middle one, and closes the gaps.
  /// Returns their partial, in every lane. Collective over the warp.
  WARDEN_DEVICE static partials take_out(simt::shared_span<message_type> window, segment& all) {
    combining_key<section> const key = key_of(window[all.middle()]);
    partials mine;
    bool has = false;
    std::uint32_t kept = all.begin;
    WARDEN_NO_UNROLL
    for (std::uint32_t first = all.begin; first < all.end; first += ahead * simt::warp_size) {
      message_type m[ahead];
      unsigned others[ahead], any = 0;
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; ++j) {
        std::uint32_t const i = first + j * simt::warp_size + simt::lane_id();
        if (i < all.end) m[j] = window[i];
      }
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; ++j) {
        bool const is_message = first + j * simt::warp_size + simt::lane_id() < all.end;
        bool const goes = is_message && key_of(m[j]) == key;
        others[j] = simt::ballot(simt::full_warp, is_message && !goes);
        any |= others[j];
        if (!goes) continue;
        partials const one{made_partial<partial>(section_of(m[j])), 1, 0};
        if (has) mine.add(one);
        if (!has) mine = one;
        has = true;
      }
      if (any == 0) continue;
      // All lanes have read, the middle message first: the remaining ones may overwrite them.
      simt::sync_warp(simt::full_warp);
      WARDEN_UNROLL
      for (unsigned j = 0; j < ahead; ++j) {
        unsigned const below = others[j] & ((1u << simt::lane_id()) - 1);
        if (others[j] >> simt::lane_id() & 1u)
          window[kept + static_cast<unsigned>(simt::count_bits(below))] = m[j];
        kept += static_cast<unsigned>(simt::count_bits(others[j]));
      }
    }
    all.end = kept;                    // mutation: long-run-rest
    simt::sync_warp(simt::full_warp);  // the owner reads the remaining messages
    return mine.of_warp(simt::ballot(simt::full_warp, has));
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
