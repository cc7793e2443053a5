// SPDX-License-Identifier: Apache-2.0
/// @file
/// The channel: one server's circular queue of messages in global memory, and its four indices.
///
/// - reserved: senders raise it by one atomic add for each batch and destination.
/// - published: not stored. The flits of a published slot carry the sequence tag of its index.
/// - executed: the server raises it after the sections of a slice have run.
/// - released: one thread of the server raises it in order, which gives slots back to the senders.
///
/// Indices have 64 bits and never go back. Index i is in slot i mod capacity, with sequence tag i
/// div capacity. A sender may write index i once i < released + capacity. After [Wang 2020, section
/// 4.3.1], with a sequence tag in every word in place of its bit-mask.
#pragma once

#include <warden/detail/fused/message.cuh>
#include <warden/simt/simt.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// An index with a cache line of its own, because senders and server poll and raise different
/// indices.
struct alignas(128) channel_index {
  std::uint64_t value;  ///< only grows
};

/// Indices of one channel.
struct channel_indices {
  channel_index reserved;  ///< slots handed to senders
  channel_index released;  ///< slots given back to senders
  channel_index executed;  ///< messages executed
  /// Number of the last launch in which the channel's server ran.
  channel_index started;
};

/// One channel as device code sees it. Flits of one slot are `capacity` apart, so threads that
/// access neighbouring slots touch neighbouring addresses. `Flit` is the tag format of flits:
/// flit::sequence_in_each_word, or a type with its members.
template <int Flits, class Flit = flit::sequence_in_each_word>
class channel_ref {
 public:
  /// True: a slot shows by itself that its message is complete and was not overwritten.
  static constexpr bool in_band = true;

  /// Constructs a view. `slots` has `flits(capacity_log2)` elements.
  WARDEN_DEVICE channel_ref(channel_indices* indices, simt::flit_words* slots,
                            unsigned capacity_log2)
      : indices_{indices}, slots_{slots}, capacity_log2_{capacity_log2} {}

  /// Number of slots.
  WARDEN_DEVICE std::uint64_t capacity() const { return std::uint64_t{1} << capacity_log2_; }
  /// Offset of a server's channel among the slots of a guarded array. Units: flits.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t begin(std::uint64_t server,
                                                          unsigned capacity_log2) {
    return server * Flits << capacity_log2;
  }
  /// Flits of one channel.
  WARDEN_HOST_DEVICE static constexpr std::uint64_t flits(unsigned capacity_log2) {
    return begin(1, capacity_log2);
  }

  // ---- senders

  /// Takes `count` consecutive indices and returns the first. They cannot be given back.
  WARDEN_DEVICE std::uint64_t reserve(std::uint64_t count) const {
    simt::note_reservation(count);
    return simt::fetch_add(&indices_->reserved.value, count);
  }
  /// Returns the released index, possibly an older value. Relaxed, as all accesses of slots: the
  /// sequence tags of what the server received show that it was not overwritten before. An
  /// acquiring load would drop the multiprocessor's whole L1 at every poll.
  WARDEN_DEVICE std::uint64_t released() const {
    return simt::load_relaxed(&indices_->released.value);
  }
  /// Returns the latest released index: an atomic reads the latest value.
  WARDEN_DEVICE std::uint64_t latest_released() const {
    return simt::fetch_add(&indices_->released.value, std::uint64_t{0});
  }
  /// Returns how many of the `count` indices from `first` on may be written by a sender that last
  /// saw `released`.
  WARDEN_DEVICE std::uint32_t credit(std::uint64_t first, std::uint32_t count,
                                     std::uint64_t released) const {
    std::uint64_t const end = released + capacity();
    if (first >= end) return 0;  // mutation: credit
    return end - first < count ? static_cast<std::uint32_t>(end - first) : count;
  }
  /// Returns true if a sender that last saw `released` may write the index.
  WARDEN_DEVICE bool has_credit(std::uint64_t index, std::uint64_t released) const {
    return credit(index, 1, released) != 0;
  }
  /// Writes the message into the slot of a reserved index with credit.
  WARDEN_DEVICE void publish(std::uint64_t index, message<Flits> const& m) const {
    store_message<Flit>(
        m, [&](int l) { return place(index, l); }, sequence_tag(index));
  }
  /// Returns the released index. First of the three steps by which a warp publishes consecutive
  /// slots in any kind of channel: one thread acquires credit, all lanes write their slots, one
  /// thread announces them.
  WARDEN_DEVICE std::uint64_t acquire_released() const { return released(); }
  /// Writes one slot: the second step. In this channel it also publishes the slot.
  WARDEN_DEVICE void write(std::uint64_t index, message<Flits> const& m) const {
    publish(index, m);
  }
  /// Announces the slots: the third step. This channel has nothing left to do.
  WARDEN_DEVICE void announce(std::uint64_t, std::uint32_t) const {}

  // ---- the server

  /// Loads the slot of an index into `m`. Returns true if that is the whole message of this index.
  WARDEN_DEVICE bool receive(std::uint64_t index, message<Flits>& m) const {
    return load_message<Flit>(
        m, [&](int l) { return place(index, l); }, sequence_tag(index));
  }
  /// Returns true if the slot of an index holds its whole message.
  WARDEN_DEVICE bool is_there(std::uint64_t index) const {
    message<Flits> m;
    return receive(index, m);
  }
  /// Returns the channel's indices, in global memory.
  WARDEN_DEVICE channel_indices* indices() const { return indices_; }
  /// Calls `watch` with the addresses that change when the index is published.
  template <class Watch>
  WARDEN_DEVICE void watch_slot(std::uint64_t index, Watch watch) const {
    watch_message<Flits>([&](int l) { return place(index, l); }, watch);
  }

  // ---- the host

  /// Returns the slots of a channel without messages whose next index is `first`. Every slot
  /// carries the sequence tag before `first`'s.
  static std::vector<simt::flit_words> empty(std::uint64_t first, unsigned capacity_log2) {
    std::uint64_t const tag = (first >> capacity_log2) - 1;
    return std::vector<simt::flit_words>(flits(capacity_log2), Flit::stamped({0, 0}, tag));
  }
  /// Returns true if an index was published in the slots of a channel that has stopped.
  static bool is_published(simt::flit_words const* slots, std::uint64_t index,
                           unsigned capacity_log2) {
    std::uint64_t const capacity = std::uint64_t{1} << capacity_log2;
    for (std::uint64_t l = 0; l < Flits; ++l) {
      simt::flit_words const words = slots[l * capacity + (index & (capacity - 1))];
      if (!Flit::is_of(words, index >> capacity_log2)) return false;
    }
    return true;
  }

 protected:
  /// Returns the address of a slot's flit.
  WARDEN_DEVICE simt::flit_words* place(std::uint64_t index, int l) const {
    std::uint64_t const slot = index & (capacity() - 1);
    return slots_ + ((static_cast<std::uint64_t>(l) << capacity_log2_) + slot);
  }

  channel_indices* indices_;  ///< in global memory
  simt::flit_words* slots_;   ///< in global memory
  unsigned capacity_log2_;    ///< binary logarithm of the number of slots

 private:
  WARDEN_DEVICE std::uint64_t sequence_tag(std::uint64_t index) const {
    return index >> capacity_log2_;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
