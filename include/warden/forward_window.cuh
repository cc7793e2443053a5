// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the sections of a window send on, until it is published.
///
/// Owner threads leave what they send where the messages lay that they have run: it takes no memory
/// of its own, a thread with a long run is not held up by its sends, and all threads of the block
/// publish them together when the window has run.
#pragma once

#include <warden/guarded_ref.cuh>
#include <warden/section_client.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Messages on their way out, in the slots of a window of `Slots` messages. Where a lap will be
/// stands the destination: its number plus one, or 0 for an empty slot.
template <class Ref, unsigned Slots>
class forward_window {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Where the messages lie.
  using slots = simt::shared_span<message_type>;

  /// The part of one owner thread, whose run begins at a slot.
  class run {
   public:
    /// Nothing has run yet.
    WARDEN_DEVICE run(Ref const& ref, slots window, std::uint32_t begin)
        : ref_{ref}, window_{window}, next_{begin}, free_{begin} {}

    /// The messages in the slots below `end` have run, or are held elsewhere.
    WARDEN_DEVICE void ran(std::uint32_t end) { free_ = end; }
    /// For section_client: counts what is wrong.
    WARDEN_DEVICE bool may_send(std::uint64_t id, unsigned left) const {
      if (left != 0) return ref_.check(id);
      simt::fetch_add(&ref_.report->forwards_too_many, std::uint64_t{1});
      return false;
    }
    /// For section_client.
    template <class Section>
    WARDEN_DEVICE void send(std::uint32_t id, Section const& section) {
      owner const to = ref_.owners(id);
      put(to.server, Ref::format::pack(to.local, section));
    }
    /// Leaves a message to be published, which takes the token of one that has run. Where the run
    /// has no such slot, publishes it at once, and never waits.
    WARDEN_DEVICE void put(std::uint32_t server, message_type m) {
      if (next_ != free_) {
        m.lanes[0].second |= std::uint64_t{server + 1} << lane::payload_bits;
        window_[next_] = m;
        ++next_;
      } else {
        // What sends one message at most has a token for it: that of a message set aside before.
        if constexpr (Ref::most_forwards == 1) ++published_;
        if constexpr (Ref::most_forwards > 1) ref_.rings.take_beyond(1);  // sabotage: forward-token
        std::uint64_t const index = ref_.rings.ring_of(server).reserve(1);
        if constexpr (Ref::fences) simt::fence_device();
        ref_.publish_reserved(server, index, m);
      }
    }
    /// The run has ended: its other slots are empty.
    WARDEN_DEVICE void finish() {
      for (; next_ != free_; ++next_) window_[next_].lanes[0].second = 0;
    }
    /// Messages with a token of their own that this thread has published itself.
    WARDEN_DEVICE unsigned published() const { return published_; }

   private:
    Ref const& ref_;
    slots window_;
    std::uint32_t next_;  ///< the slot of the next message
    std::uint32_t free_;  ///< slots below can be used
    unsigned published_ = 0;
  };

  /// Publishes what lies in the first `count` slots. Collective over the block, behind a barrier;
  /// the next barrier ends it. Returns, to each warp's first lane, how many its warp published.
  WARDEN_DEVICE static unsigned publish(Ref const& ref, slots window, std::uint32_t count) {
    constexpr unsigned threads = Ref::policy::block_threads;
    constexpr unsigned rounds = Slots / threads, group = rounds < 4 ? rounds : 4;
    unsigned published = 0;
    for (std::uint32_t first = 0; first < count; first += group * threads) {
      std::uint32_t to[group];
      std::uint64_t index[group];
      bool any = false;
      // All reservations are under way before the first is needed.
      WARDEN_UNROLL
      for (unsigned k = 0; k < group; ++k) {
        std::uint32_t const slot = first + k * threads + simt::thread_rank();
        to[k] = slot < count ? destination(window[slot]) : 0;
        unsigned const sent = simt::ballot(simt::full_warp, to[k] != 0);
        if (simt::lane_id() == 0) published += static_cast<unsigned>(simt::count_bits(sent));
        any = any || to[k] != 0;
        if (to[k] != 0) index[k] = ref.rings.ring_of(to[k] - 1).reserve(1);
      }
      // Release: the owner threads wrote before the barrier, this one publishes behind it.
      if constexpr (Ref::fences) {
        if (any) simt::fence_device();  // sabotage: forward-fence
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < group; ++k) {
        std::uint32_t const slot = first + k * threads + simt::thread_rank();
        if (to[k] != 0) ref.publish_reserved(to[k] - 1, index[k], window[slot]);
      }
    }
    return published;
  }

 private:
  WARDEN_DEVICE static std::uint32_t destination(message_type const& m) {
    return static_cast<std::uint32_t>(m.lanes[0].second >> lane::payload_bits);
  }
};

WARDEN_NAMESPACE_END
