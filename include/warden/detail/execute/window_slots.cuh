// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages of a window whose sections combine.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The window as members of the segments that are combined. See block_combine.
template <class Ref>
struct window_slots {
  using section = typename Ref::section;  ///< section that a message carries
  static constexpr bool store = true;     ///< see block_combine
  /// Stands for no record: marks a message that was combined into another one.
  static constexpr std::uint32_t no_record = ~0u;

  simt::shared_span<typename Ref::message_type> window;  ///< [slot]

  /// Returns the key of a slot: sections of one key combine.
  WARDEN_DEVICE combining_key<section> key(std::uint32_t slot) const {
    return combining_key_of(window[slot].local(), section_at(slot));
  }
  /// Returns the section in a slot.
  WARDEN_DEVICE section section_at(std::uint32_t slot) const {
    return Ref::format::template unpack<section>(window[slot]);
  }
  /// Notes that the section in a slot is part of another one.
  WARDEN_DEVICE void absorbed(std::uint32_t slot) const {
    window[slot].flits[0].first = no_record;  // mutation: window-absorbed
  }
  /// Stores what the sections of a key combine to.
  WARDEN_DEVICE void combined(combining_key<section> key, std::uint32_t slot,
                              section const& s) const {
    window[slot] = Ref::format::pack(static_cast<std::uint32_t>(key), s);
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
