// SPDX-License-Identifier: Apache-2.0
/// @file
/// Position of one warp in a channel that it reads slice by slice.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Position of one warp in a channel that is read slice by slice. All lanes of the warp hold equal
/// copies.
class slice_reader {
 public:
  /// Constructs the position of reading warp `warp` at its first slice.
  template <class Tracker>
  WARDEN_DEVICE slice_reader(Tracker const& tracker, unsigned warp)
      : number_{tracker.first() / Tracker::slice + warp},
        // Messages that ran in an earlier launch.
        executed_{warp == 0 ? (1u << tracker.first() % Tracker::slice) - 1 : 0} {
  }  // mutation: rerun

  /// Loads each lane's slot of the slice. Returns true if it holds a message that was not executed.
  template <class Tracker, class Message>
  WARDEN_DEVICE bool receive(Tracker const& tracker, Message& m) const {
    bool const present = tracker.channel().receive(number_ * Tracker::slice + simt::lane_id(), m);
    return present && (executed_ >> simt::lane_id() & 1u) == 0;
  }
  /// Notes that the lanes in `batch` have run their messages. After a complete slice goes on by
  /// `warps` slices. Collective over the warp.
  template <class Tracker>
  WARDEN_DEVICE void executed(Tracker const& tracker, unsigned batch, unsigned warps) {
    executed_ |= batch;
    if (executed_ != simt::full_warp) return;
    if (simt::lane_id() == 0) tracker.mark_done(number_);
    number_ += warps;
    executed_ = 0;
  }

  /// Returns the number of the slice.
  WARDEN_DEVICE std::uint64_t number() const { return number_; }
  /// Returns the lane of the oldest message that is still expected.
  WARDEN_DEVICE unsigned expecting() const {
    return static_cast<unsigned>(simt::first_bit(~executed_));
  }

 private:
  std::uint64_t number_;
  unsigned executed_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
