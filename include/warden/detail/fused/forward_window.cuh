// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages that the sections of a window send, until they are published.
///
/// An owner thread stores the message that a section sends in the window slot of the section's own
/// message. This takes no extra memory, and a thread with a long segment does as little as
/// possible. All threads of the block look up the owners and publish after the window has run.
#pragma once

#include <warden/detail/execute/section_client.cuh>
#include <warden/detail/fused/guarded_ref.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Outgoing messages in the slots of a window of `Slots` messages. The record's id is in the place
/// of its local number, and a mark in the place of the sequence tag. A slot without a mark is
/// empty.
template <class Ref, unsigned Slots>
class forward_window {
 public:
  /// Message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Slots of the window.
  using slots = simt::shared_span<message_type>;

  /// Returns a message without a mark, as a slot holds it before it runs.
  WARDEN_DEVICE static message_type unmarked(message_type m) {
    m.flits[0].second &= flit::payload_mask;
    return m;
  }

  /// Sends for the sections that one owner thread runs. The first message of each section takes the
  /// slot of the section's own message.
  class slot_sender {
   public:
    /// Constructs a sender for the window `window`, of which nothing has run yet.
    WARDEN_DEVICE slot_sender(Ref const& ref, slots window) : ref_{ref}, window_{window} {}

    /// Notes that the message of that slot runs now.
    WARDEN_DEVICE void begin(std::uint32_t slot) {
      slot_ = slot;
      is_free_ = true;
    }
    /// Returns true if the section may send `left` more. Otherwise counts the attempt. Required by
    /// section_client.
    WARDEN_DEVICE bool may_send(unsigned left) const { return ref_.check_sends(left); }
    /// Sends a section. Required by section_client.
    template <class Section>
    WARDEN_DEVICE void send(std::uint64_t id, Section const& section) {
      // The thread that publishes the message checks that the record exists.
      put(id < no_record ? static_cast<std::uint32_t>(id) : no_record, section);
    }
    /// Sends to the owner of a record. The first message takes the slot and the credit of the
    /// message that runs; further ones are published at once. Never waits.
    template <class Sent>
    WARDEN_DEVICE void put(std::uint32_t id, Sent const& sent) {
      message_type m = Ref::format::pack(id, sent);
      if (sends_one || is_free_) {
        m.flits[0].second |= mark;
        window_[slot_] = m;
        is_free_ = false;
      } else {
        if (!ref_.check(id)) return;
        ref_.rings.take_beyond(1);  // mutation: forward-credit
        // Orders taking the credit before publishing, so that no server gives it back earlier.
        simt::fence_device();
        record_location const to = ref_.owners(id);
        std::uint64_t const index = ref_.rings.ring_of(to.server).reserve(1);
        if constexpr (Ref::fences) simt::fence_device();
        ref_.publish_reserved(to.server, index, addressed(m, to));
      }
    }

   private:
    /// True if no message sends more than one.
    static constexpr bool sends_one = Ref::max_sends == 1;
    /// Id of no record: a guarded array has fewer records.
    static constexpr std::uint32_t no_record = ~0u;

    Ref const& ref_;
    slots window_;
    std::uint32_t slot_ = 0;
    bool is_free_ = true;
  };

  /// Publishes the messages in the first `count` slots. Thread t handles the slots t mod the number
  /// of threads. Needs a barrier before it if other threads filled the slots, and a barrier after
  /// it. Returns how many messages this thread has published. An invalid id is counted and not
  /// sent.
  WARDEN_DEVICE static unsigned publish(Ref const& ref, slots window, std::uint32_t count) {
    constexpr unsigned threads = Ref::policy::block_threads;
    constexpr unsigned per_thread = Slots / threads, group = per_thread < 4 ? per_thread : 4;
    unsigned published = 0;
    for (std::uint32_t first = simt::thread_rank(); first < count; first += group * threads) {
      record_location to[group];
      std::uint64_t index[group];
      bool sends[group], any = false;
      // All reservations are in progress before the first result is needed.
      WARDEN_UNROLL
      for (unsigned k = 0; k < group; ++k) {
        std::uint32_t const slot = first + k * threads;
        sends[k] = slot < count && window[slot].flits[0].second >> flit::payload_bits != 0 &&
                   ref.check(window[slot].local());
        if (!sends[k]) continue;
        any = true;
        ++published;
        to[k] = ref.owners(window[slot].local());
        index[k] = ref.rings.ring_of(to[k].server).reserve(1);
      }
      // Release: the owner threads wrote before the barrier, this thread publishes after it.
      if constexpr (Ref::fences) {
        if (any) simt::fence_device();  // mutation: forward-fence
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < group; ++k) {
        if (sends[k])
          ref.publish_reserved(to[k].server, index[k],
                               addressed(window[first + k * threads], to[k]));
      }
    }
    return published;
  }

 private:
  /// Any bit of the sequence tag.
  static constexpr std::uint64_t mark = std::uint64_t{1} << flit::payload_bits;

  /// Returns the message with the local number of its record in place of the id.
  WARDEN_DEVICE static message_type addressed(message_type m, record_location to) {
    m.flits[0].first = (m.flits[0].first & ~std::uint64_t{0xffffffffu}) | to.local;
    return m;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
