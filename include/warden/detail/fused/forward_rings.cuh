// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rings by which the servers of a guarded array send sections to one another, and the credits that
/// keep a ring from being full.
///
/// A ring is a channel whose senders are servers. Every message in a ring holds a credit, and so
/// does every message that a server has set aside. A server takes credits before it receives
/// messages from clients. There are fewer credits than slots in one ring, so a sender always finds
/// room and never waits. The remaining slots are for messages that were received after a missing
/// index: a server reads at most `read_ahead` indices beyond `released`.
#pragma once

#include <warden/detail/fused/channel.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Rings and credits of a guarded array as device code sees them. Trivially copyable; part of a
/// ref.
template <class Channel>
struct forward_rings {
  channel_indices* indices = nullptr;  ///< one for each server
  simt::flit_words* slots = nullptr;   ///< slots of all rings, see channel::begin
  channel_index* available = nullptr;  ///< credits that no server holds, two's complement
  std::uint64_t credits = 0;           ///< number of credits
  std::uint32_t capacity_log2 = 0;     ///< binary logarithm of the slots of one ring
  std::uint32_t kept = 0;              ///< maximum of credits that a server keeps for its clients
  std::uint32_t read_ahead = 0;        ///< maximum of indices beyond `released` that a server reads

  /// Returns the ring of a server.
  WARDEN_DEVICE Channel ring_of(std::uint32_t server) const {
    return Channel{indices + server, slots + Channel::begin(server, capacity_log2), capacity_log2};
  }

  /// Requests credits. The result is the argument of `granted`, which may be called later, because
  /// the atomic takes its time.
  WARDEN_DEVICE std::uint64_t ask(std::uint32_t count) const {
    return simt::fetch_add(&available->value, std::uint64_t{0} - count);
  }
  /// Returns how many of the `count` requested credits the caller has got.
  WARDEN_DEVICE std::uint32_t granted(std::uint64_t asked, std::uint32_t count) const {
    auto const unclaimed = static_cast<std::int64_t>(asked);
    std::uint32_t const got = unclaimed <= 0 ? 0
                              : unclaimed < std::int64_t{count}
                                  ? static_cast<std::uint32_t>(unclaimed)
                                  : count;
    if (got != count) give_back(count - got);
    return got;
  }
  /// Takes credits even if there are none. For messages whose room is checked at the slot itself.
  WARDEN_DEVICE void take_beyond(std::uint32_t count) const { static_cast<void>(ask(count)); }
  /// Gives back credits that the caller holds.
  WARDEN_DEVICE void give_back(std::uint64_t count) const {
    simt::fetch_add(&available->value, count);
  }
  /// Returns the number of credits that no server holds. Relaxed, for polls.
  WARDEN_DEVICE std::int64_t count() const {
    return static_cast<std::int64_t>(simt::load_relaxed(&available->value));
  }
  /// Returns the latest number of free credits: an atomic reads the latest value, a load may return
  /// an older one.
  WARDEN_DEVICE std::int64_t latest_count() const {
    return static_cast<std::int64_t>(simt::fetch_add(&available->value, std::uint64_t{0}));
  }
  /// Returns true if no server holds a credit: no message is in a ring or set aside. Relaxed, for
  /// polls.
  WARDEN_DEVICE bool has_all() const { return simt::load_relaxed(&available->value) == credits; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
