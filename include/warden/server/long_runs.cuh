// SPDX-License-Identifier: Apache-2.0
/// @file
/// Combines what is left of a hot record's sections in a window of a log: its owner thread would
/// run them one after another, and the block would wait for it.
#pragma once

#include <warden/combining.cuh>
#include <warden/launch/run_carry.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// Of a window of `Ref`'s messages, which is sorted by owner thread.
template <class Ref>
class long_runs {
  using message_type = typename Ref::message_type;
  using section = typename Ref::section;

 public:
  /// What sections become.
  using partial = typename Ref::formats::partial;

  /// For a warp whose threads own the messages from `begin` to `end` - 1, each its own: combines
  /// those for one record where a thread has many more than the others, and runs what they became
  /// by `apply(local, partial)` in the owner. Returns the end of what is left for this thread.
  /// Collective over the warp.
  template <class Apply>
  WARDEN_DEVICE static std::uint32_t combine(simt::shared_span<message_type> window,
                                             std::uint32_t begin, std::uint32_t end, Apply apply) {
    auto const longer_than = [&](std::uint32_t messages) {
      return simt::ballot(simt::full_warp, end - begin > messages);
    };
    unsigned left = longer_than(least);
    if (left == 0) return end;
    left = longer_than(least + each * static_cast<unsigned>(simt::count_bits(left)));
    WARDEN_NO_UNROLL
    for (; left != 0; left &= left - 1) {
      auto const owner = static_cast<unsigned>(simt::first_bit(left));
      run whole{simt::shuffle(simt::full_warp, begin, owner),
                simt::shuffle(simt::full_warp, end, owner)};
      bool goes_on = true;
      while (goes_on) {
        std::uint32_t const before = whole.end - whole.begin;
        std::uint32_t const local = window[whole.middle()].local();
        partials const all = take_out(window, whole);
        if (simt::lane_id() == owner) apply(local, all.sum());  // sabotage: long-run
        // Several hot records of one owner: as long as each has half of what is left.
        std::uint32_t const after = whole.end - whole.begin;
        goes_on = after > least && after * 2 < before;
      }
      if (simt::lane_id() == owner) end = whole.end;
    }
    return end;
  }

 private:
  using partials = run_carry<partial>;
  /// Messages that a thread runs while its warp combines some.
  static constexpr std::uint32_t least = 64, each = 40;

  /// The messages of one owner.
  struct run {
    std::uint32_t begin, end;
    /// One of them: most likely one of the record that most are for.
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

  /// Takes out of a run what combines with its middle, and closes up the rest. Returns what it
  /// became, in every lane. Collective over the warp.
  WARDEN_DEVICE static partials take_out(simt::shared_span<message_type> window, run& all) {
    combining_key<section> const key = key_of(window[all.middle()]);
    partials mine;
    std::uint32_t kept = all.begin;
    std::uint32_t i = all.begin + simt::lane_id();
    message_type next{};
    if (i < all.end) next = window[i];
    WARDEN_NO_UNROLL
    for (std::uint32_t first = all.begin; first < all.end; first += simt::warp_size) {
      message_type const m = next;
      bool const is = i < all.end;
      i += simt::warp_size;
      if (i < all.end) next = window[i];
      bool const stays = is && key_of(m) != key;
      unsigned const others = simt::ballot(simt::full_warp, stays);
      if (is && !stays) mine.add_or_begin({made_partial<partial>(section_of(m)), 1, 0});
      if (others == 0) continue;
      // All lanes have read these and the next ones, and at first the middle: what stays may lie
      // where it lay, or before.
      simt::sync_warp(simt::full_warp);
      if (stays) {
        unsigned const below = others & ((1u << simt::lane_id()) - 1);
        window[kept + static_cast<unsigned>(simt::count_bits(below))] = m;
      }
      kept += static_cast<unsigned>(simt::count_bits(others));
    }
    all.end = kept;                    // sabotage: long-run-rest
    simt::sync_warp(simt::full_warp);  // its owner reads what stays
    return mine.of_warp();
  }
};

WARDEN_NAMESPACE_END
