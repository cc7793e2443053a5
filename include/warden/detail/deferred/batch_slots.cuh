// SPDX-License-Identifier: Apache-2.0
/// @file
/// Slots of a batch that is combined: the keys of its messages, and the partials that they combine
/// to.
#pragma once

#include <warden/detail/block/combining.cuh>
#include <warden/detail/execute/segment_carry.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Slots of a batch in a log of `Formats`: `Count` slots of messages as they are sent. If partials
/// are wider, slots of wide messages follow.
template <class Formats, unsigned Count>
class batch_slots {
  using format = typename Formats::format;
  using section = typename Formats::section;
  using partial = typename Formats::partial;
  using wide_format = typename Formats::wide_format;

 public:
  using message_type = typename Formats::message_type;      ///< message as it is sent
  using wide_message = typename wide_format::message_type;  ///< message of a partial
  using key_type = combining_key<section>;                  ///< messages of equal key combine
  using carry = segment_carry<partial>;                     ///< the partial that they combine to

  /// `narrow` holds the first `Count` slots, `wide` the slots after them.
  WARDEN_DEVICE batch_slots(simt::shared_span<message_type> narrow,
                            simt::shared_span<wide_message> wide)
      : narrow_{narrow}, wide_{wide} {}

  /// Returns the key of a message, which one load brings because it is a copy.
  WARDEN_DEVICE static key_type key_of(message_type m) {
    if constexpr (has_combine_key<section>) {
      return combining_key_of(m.local(), format::template unpack<section>(m));
    } else {
      return m.local();
    }
  }
  /// Returns the key of a wide message.
  WARDEN_DEVICE static key_type key_of_wide(wide_message const& m) {
    return combining_key_of(m.local(), wide_format::template unpack<partial>(m));
  }
  /// Returns the key of the message in a slot of either kind.
  WARDEN_DEVICE key_type key_at(unsigned slot) const {
    if constexpr (Formats::two_widths) {
      if (slot >= Count) return key_of_wide(wide_[slot - Count]);
    }
    return key_of(narrow_[slot]);
  }
  /// Returns the message in a slot of either kind as a segment of one message.
  WARDEN_DEVICE carry carry_at(unsigned slot) const {
    if constexpr (Formats::two_widths) {
      if (slot >= Count)
        return {wide_format::template unpack<partial>(wide_[slot - Count]), 0, slot - Count + 1};
    }
    return {made_partial<partial>(format::template unpack<section>(narrow_[slot])), 1, 0};
  }
  /// Stores the partial of the messages with this key in a slot of its width.
  WARDEN_DEVICE void put(unsigned slot, key_type key, partial const& all) const {
    narrow_[slot] = format::pack(static_cast<std::uint32_t>(key), all);
  }
  /// Stores the partial of the messages with this key in wide slot `slot`, counted from 0.
  WARDEN_DEVICE void put_wide(unsigned slot, key_type key, partial const& all) const {
    wide_[slot] = wide_format::pack(static_cast<std::uint32_t>(key), all);
  }
  /// Returns the message in a slot of the first `Count`.
  WARDEN_DEVICE message_type& operator[](unsigned slot) const { return narrow_[slot]; }
  /// Returns the message in wide slot `slot`, counted from 0.
  WARDEN_DEVICE wide_message const& wide(unsigned slot) const { return wide_[slot]; }

 private:
  simt::shared_span<message_type> narrow_;
  simt::shared_span<wide_message> wide_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
