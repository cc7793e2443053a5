// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp's way through a channel, slice by slice.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// A warp's place in a channel that is read slice by slice. All lanes of the warp make one alike.
class slice_reader {
 public:
  /// The first slice of the warp that comes as number `warp` among those that read the channel.
  template <class Tracker>
  WARDEN_DEVICE slice_reader(Tracker const& tracker, unsigned warp)
      : number_{tracker.first() / Tracker::slice + warp},
        // What ran in an earlier launch.
        executed_{warp == 0 ? (1u << tracker.first() % Tracker::slice) - 1 : 0} {
  }  // mutation: rerun

  /// Each lane looks at its slot of the slice. True where a message has come that has not been
  /// executed.
  template <class Tracker, class Message>
  WARDEN_DEVICE bool receive(Tracker const& tracker, Message& m) const {
    bool const there = tracker.channel().receive(number_ * Tracker::slice + simt::lane_id(), m);
    return there && (executed_ >> simt::lane_id() & 1u) == 0;
  }
  /// The lanes in `batch` have run their messages; the next slice is `warps` further. Collective
  /// over the warp.
  template <class Tracker>
  WARDEN_DEVICE void executed(Tracker const& tracker, unsigned batch, unsigned warps) {
    executed_ |= batch;
    if (executed_ != simt::full_warp) return;
    if (simt::lane_id() == 0) tracker.mark_done(number_);
    number_ += warps;
    executed_ = 0;
  }

  /// The slice.
  WARDEN_DEVICE std::uint64_t number() const { return number_; }
  /// The lane of the oldest message that is still expected.
  WARDEN_DEVICE unsigned expecting() const {
    return static_cast<unsigned>(simt::first_bit(~executed_));
  }

 private:
  std::uint64_t number_;
  unsigned executed_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
