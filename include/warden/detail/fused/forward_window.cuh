// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the sections of a window send on, until it is published.
///
/// An owner thread leaves what a section sends in the slot of the window where the section's own
/// message lay: it takes no memory of its own, and a thread with a long run does no more for it
/// than it must. All threads of the block look up the owners and publish when the window has run.
#pragma once

#include <warden/detail/execute/section_client.cuh>
#include <warden/detail/fused/guarded_ref.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Messages on their way out, in the slots of a window of `Slots` messages. The record's id stands
/// where its local number will be, and a mark where a lap will be; without one the slot is empty.
template <class Ref, unsigned Slots>
class forward_window {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Where the messages lie.
  using slots = simt::shared_span<message_type>;

  /// A message as it lies in its slot before it runs: without a mark.
  WARDEN_DEVICE static message_type unmarked(message_type m) {
    m.flits[0].second &= flit::payload_mask;
    return m;
  }

  /// What the sections that one owner thread runs send by: the first message of each takes the slot
  /// of its own.
  class slot_sender {
   public:
    /// A sender for the window `window`, of which nothing has run yet.
    WARDEN_DEVICE slot_sender(Ref const& ref, slots window) : ref_{ref}, window_{window} {}

    /// The message that lay in that slot runs now.
    WARDEN_DEVICE void begin(std::uint32_t slot) {
      slot_ = slot;
      is_free_ = true;
    }
    /// For section_client: false, and counted, once it has sent all it may.
    WARDEN_DEVICE bool may_send(unsigned left) const { return ref_.check_sends(left); }
    /// For section_client.
    template <class Section>
    WARDEN_DEVICE void send(std::uint64_t id, Section const& section) {
      // Whoever publishes it finds out whether there is such a record.
      put(id < no_record ? static_cast<std::uint32_t>(id) : no_record, section);
    }
    /// Sends to the owner of a record. The first message takes the slot, and the credit, of the one
    /// that runs; another one is published at once. Neither waits.
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
        // Nobody gives the credit back before it is taken.
        simt::fence_device();
        record_location const to = ref_.owners(id);
        std::uint64_t const index = ref_.rings.ring_of(to.server).reserve(1);
        if constexpr (Ref::fences) simt::fence_device();
        ref_.publish_reserved(to.server, index, addressed(m, to));
      }
    }

   private:
    /// Whether no message sends more than one.
    static constexpr bool sends_one = Ref::max_sends == 1;
    /// A guarded array has fewer records than that.
    static constexpr std::uint32_t no_record = ~0u;

    Ref const& ref_;
    slots window_;
    std::uint32_t slot_ = 0;
    bool is_free_ = true;
  };

  /// Publishes what lies in the first `count` slots: thread t that in the slots t mod the number of
  /// threads. Behind a barrier if others have left it there; the next barrier ends it. Returns how
  /// many this thread has published. An id that is no record's is counted, and not sent.
  WARDEN_DEVICE static unsigned publish(Ref const& ref, slots window, std::uint32_t count) {
    constexpr unsigned threads = Ref::policy::block_threads;
    constexpr unsigned rounds = Slots / threads, group = rounds < 4 ? rounds : 4;
    unsigned published = 0;
    for (std::uint32_t first = simt::thread_rank(); first < count; first += group * threads) {
      record_location to[group];
      std::uint64_t index[group];
      bool sends[group], any = false;
      // All reservations are under way before the first is needed.
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
      // Release: the owner threads wrote before the barrier, this one publishes behind it.
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
  /// Any bit of the lap's.
  static constexpr std::uint64_t mark = std::uint64_t{1} << flit::payload_bits;

  /// A message with the local number of its record in place of the id.
  WARDEN_DEVICE static message_type addressed(message_type m, record_location to) {
    m.flits[0].first = (m.flits[0].first & ~std::uint64_t{0xffffffffu}) | to.local;
    return m;
  }
};

}  // namespace detail
WARDEN_NAMESPACE_END
