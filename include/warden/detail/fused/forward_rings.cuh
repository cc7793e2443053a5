// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rings by which the servers of a guarded array send sections to one another, and the credits
/// that keep a ring from ever being full.
///
/// A ring is a channel whose senders are servers. Every message in a ring, and every message that a
/// server has set aside, holds a credit; a server takes credits before it receives anything from
/// clients. There are fewer credits than slots in one ring, so whoever sends finds room and never
/// waits. What is left of the slots is for messages that were received behind an index that is
/// missing: a server reads `read_ahead` indices beyond `released` at most.
#pragma once

#include <warden/detail/fused/channel.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// The rings and credits of a guarded array as device code sees them: trivially copyable, part of a
/// ref.
template <class Channel>
struct forward_rings {
  channel_indices* indices = nullptr;  ///< one a server
  simt::flit_words* slots = nullptr;   ///< of all rings, see channel::begin
  channel_index* available = nullptr;  ///< credits that nobody holds, two's complement
  std::uint64_t credits = 0;           ///< there are
  std::uint32_t capacity_log2 = 0;     ///< of the slots of one ring
  std::uint32_t kept = 0;              ///< credits that a server keeps for its clients, at most
  std::uint32_t read_ahead = 0;        ///< indices beyond `released` that a server reads, at most

  /// The ring of a server.
  WARDEN_DEVICE Channel ring_of(std::uint32_t server) const {
    return Channel{indices + server, slots + Channel::begin(server, capacity_log2), capacity_log2};
  }

  /// Asks for credits. The result is for `granted`, which may come later: the load takes its time.
  WARDEN_DEVICE std::uint64_t ask(std::uint32_t count) const {
    return simt::fetch_add(&available->value, std::uint64_t{0} - count);
  }
  /// How many of the `count` that were asked for are the caller's.
  WARDEN_DEVICE std::uint32_t granted(std::uint64_t asked, std::uint32_t count) const {
    auto const there = static_cast<std::int64_t>(asked);
    std::uint32_t const got = there <= 0                    ? 0
                              : there < std::int64_t{count} ? static_cast<std::uint32_t>(there)
                                                            : count;
    if (got != count) give_back(count - got);
    return got;
  }
  /// Takes credits whether there are any or not: for messages whose room is found out by looking.
  WARDEN_DEVICE void take_beyond(std::uint32_t count) const { static_cast<void>(ask(count)); }
  /// The caller's own.
  WARDEN_DEVICE void give_back(std::uint64_t count) const {
    simt::fetch_add(&available->value, count);
  }
  /// The credits that nobody holds. Relaxed, for polls.
  WARDEN_DEVICE std::int64_t count() const {
    return static_cast<std::int64_t>(simt::load_relaxed(&available->value));
  }
  /// The count now: an atomic reads the latest value, where a load may return an older one.
  WARDEN_DEVICE std::int64_t latest_count() const {
    return static_cast<std::int64_t>(simt::fetch_add(&available->value, std::uint64_t{0}));
  }
  /// Whether nobody holds a credit: nothing is in a ring, nothing is set aside. Relaxed, for polls.
  WARDEN_DEVICE bool has_all() const { return simt::load_relaxed(&available->value) == credits; }
};

}  // namespace detail
WARDEN_NAMESPACE_END
