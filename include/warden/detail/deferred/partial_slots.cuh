// SPDX-License-Identifier: Apache-2.0
/// @file
/// Deals out the few slots of a batch's partials, if those are wider than the messages sent.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Slots of a batch's partials: `Count` in a batch of `Messages`. Segments of three sizes have
/// slots of their own, and may use those of smaller sizes. A long segment without a slot stays as
/// it is, and would be marked message by message.
template <unsigned Count, unsigned Messages>
class partial_slots {
 public:
  /// Sizes of segments.
  static constexpr unsigned sizes = 3;

  /// `made` belongs to the block.
  WARDEN_DEVICE explicit partial_slots(std::uint32_t (&made)[sizes]) : made_{made, sizes} {}

  /// Frees all slots. Barriers must follow. Collective.
  WARDEN_DEVICE void clear() const {
    if (simt::thread_rank() < sizes) made_[simt::thread_rank()] = 0;
  }
  /// Takes a slot for a segment of `messages` messages. Returns its number, counted from 1, or 0 if
  /// there is none.
  WARDEN_DEVICE unsigned take(unsigned messages) const {
    unsigned size = messages >= larger ? 2 : messages >= large ? 1 : 0;
    while (true) {
      std::uint32_t& made = made_[size];
      if (simt::shared_load(made) < slots_of(size)) {
        unsigned const own = simt::shared_fetch_add(made, 1u);
        unsigned const before = size == 0 ? 0 : size == 1 ? Count / 2 : Count * 3 / 4;
        if (own < slots_of(size)) return before + own + 1;
      }
      if (size == 0) return 0;
      --size;
    }
  }
  /// True if half of each size's slots are left, for later messages.
  WARDEN_DEVICE bool has_room() const {
    bool has = true;
    WARDEN_UNROLL
    for (unsigned size = 0; size < sizes; ++size)
      has = has && simt::shared_load(made_[size]) <= slots_of(size) / 2;
    return has;
  }

 private:
  static constexpr unsigned large = Messages / (Count + 1), larger = 64;
  /// Returns the slots of a size: half of them are for small segments.
  WARDEN_DEVICE static constexpr unsigned slots_of(unsigned size) {
    return size == 0 ? Count / 2 : Count / 4;
  }

  simt::shared_span<std::uint32_t> made_;  ///< [size] slots requested
};

}  // namespace detail
WARDEN_NAMESPACE_END
