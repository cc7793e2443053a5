// SPDX-License-Identifier: Apache-2.0
/// @file
/// The slots of a batch that is combined: what its messages are told apart by, and what they become
/// part of.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/execute/segment_carry.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The slots of a batch: `Count` of messages as they are sent, in a log of `Formats`, and behind
/// them those of wide ones, where partials are wider.
template <class Formats, unsigned Count>
class batch_slots {
  using format = typename Formats::format;
  using section = typename Formats::section;
  using partial = typename Formats::partial;
  using wide_format = typename Formats::wide_format;

 public:
  using message_type = typename Formats::message_type;      ///< as it is sent
  using wide_message = typename wide_format::message_type;  ///< of partials
  using key_type = combining_key<section>;                  ///< messages with one key combine
  using carry = segment_carry<partial>;                     ///< what they combine to

  /// [slot], and [slot behind those].
  WARDEN_DEVICE batch_slots(simt::shared_span<message_type> narrow,
                            simt::shared_span<wide_message> wide)
      : narrow_{narrow}, wide_{wide} {}

  /// A message's key.
  WARDEN_DEVICE static key_type key_of(message_type const& m) {
    if constexpr (has_combine_key<section>) {
      return combining_key_of(m.local(), format::template unpack<section>(m));
    } else {
      return m.local();
    }
  }
  /// A wide message's key.
  WARDEN_DEVICE static key_type key_of_wide(wide_message const& m) {
    return combining_key_of(m.local(), wide_format::template unpack<partial>(m));
  }
  /// The key of the message in a slot of either kind.
  WARDEN_DEVICE key_type key_at(unsigned slot) const {
    if constexpr (Formats::two_widths) {
      if (slot >= Count) return key_of_wide(wide_[slot - Count]);
    }
    return key_of(narrow_[slot]);
  }
  /// That message as a run of its own.
  WARDEN_DEVICE carry carry_at(unsigned slot) const {
    if constexpr (Formats::two_widths) {
      if (slot >= Count)
        return {wide_format::template unpack<partial>(wide_[slot - Count]), 0, slot - Count + 1};
    }
    return {made_partial<partial>(format::template unpack<section>(narrow_[slot])), 1, 0};
  }
  /// Puts what messages with this key were combined to into a slot as wide as they.
  WARDEN_DEVICE void put(unsigned slot, key_type key, partial const& all) const {
    narrow_[slot] = format::pack(static_cast<std::uint32_t>(key), all);
  }
  /// The same for a slot of wide messages, by its number among those.
  WARDEN_DEVICE void put_wide(unsigned slot, key_type key, partial const& all) const {
    wide_[slot] = wide_format::pack(static_cast<std::uint32_t>(key), all);
  }
  /// The message in a slot.
  WARDEN_DEVICE message_type& operator[](unsigned slot) const { return narrow_[slot]; }
  /// The wide one with that number among those.
  WARDEN_DEVICE wide_message const& wide(unsigned slot) const { return wide_[slot]; }

 private:
  simt::shared_span<message_type> narrow_;
  simt::shared_span<wide_message> wide_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
