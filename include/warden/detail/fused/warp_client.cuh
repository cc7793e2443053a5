// SPDX-License-Identifier: Apache-2.0
/// @file
/// The client for the lanes of a warp that are together: one reservation for each destination among
/// them, and neighbouring lanes publish to neighbouring slots.
#pragma once

#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A thread's part of its warp's client of one guarded array, made where it is needed.
template <class Ref>
class warp_client {
 public:
  /// `at` is the virtual block that the kernel was called with; `ref` outlives the client.
  WARDEN_DEVICE warp_client(Ref const& ref, virtual_block const&) : ref_{ref} {}
  /// A section has no client block: it must not send or wait.
  explicit warp_client(Ref const&) = delete;

  /// Collective over the lanes named in `mask`, which call it together and are all of them;
  /// `valid` is false in a lane that has nothing to send. Hands each lane's section to the owner
  /// of its record `id`. Waits while an owner's channel is full. When it returns true the sections
  /// of all these lanes are accepted: each will be executed exactly once. False only once the
  /// launch is poisoned, and then in all these lanes. An id outside the records is counted, not
  /// sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(unsigned mask, std::uint64_t id, Section const& section,
                          bool valid = true) const {
    return send_together(mask, id, section, valid && ref_.check(id));
  }
  /// Sends sections on two records. With the executor locks they have one owner: pairs with
  /// two are counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(unsigned mask, std::uint64_t first, std::uint64_t second,
                          Section const& section, bool valid = true) const {
    bool const good = valid && ref_.check(first, second);
    auto const pair = ref_.pair(first, second, section, good);
    return send_together(mask, pair.id, pair.sent, good);
  }

 private:
  template <class Sent>
  WARDEN_DEVICE bool send_together(unsigned mask, std::uint64_t id, Sent const& section,
                                   bool sends) const {
    // Lanes without a message group under a number that is no server's.
    record_location const to = sends ? ref_.owners(static_cast<std::uint32_t>(id))
                                     : record_location{ref_.owners.servers(), 0};
    unsigned const group = simt::match_any(mask, to.server);
    auto const leader = static_cast<unsigned>(simt::first_bit(group));
    auto const size = static_cast<unsigned>(simt::count_bits(group));
    std::uint64_t first = 0;
    if (sends && simt::lane_id() == leader) first = ref_.channel_of(to.server).reserve(size);
    unsigned const before = group & ((1u << simt::lane_id()) - 1);
    slot const mine{to.server, simt::shuffle(mask, first, leader) +
                                   static_cast<unsigned>(simt::count_bits(before))};
    auto const message = Ref::client_format::pack(to.local, section);

    // Whatever fits at any destination is published before any lane waits. From there on each group
    // goes its own way, so its wait for one destination holds up no slot of another.
    bool pending = sends && !publish(mine, message);  // mutation: warp-hold-and-wait
    bool alive = true;
    if (simt::any(mask, pending)) {
      alive = publish_rest(group, mine, message, pending);
      alive = !simt::any(mask, !alive);
    }
    if (alive && sends && simt::lane_id() == leader) ref_.count_batch(size);
    return alive;
  }

  /// A reserved slot.
  struct slot {
    std::uint32_t server;
    std::uint64_t index;
  };

  /// Publishes the message if there is credit for its slot.
  WARDEN_DEVICE bool publish(slot to, typename Ref::client_message const& m) const {
    auto const channel = ref_.channel_of(to.server);
    if (!channel.has_credit(to.index, channel.released())) return false;
    ref_.publish(channel, to.index, m);
    return true;
  }

  /// Waits and publishes until no lane of the group, all of one destination, is pending. Collective
  /// over the group. False once poisoned.
  WARDEN_DEVICE bool publish_rest(unsigned group, slot mine, typename Ref::client_message const& m,
                                  bool pending) const {
    while (unsigned const blocked = simt::ballot(group, pending)) {
      // Slots are released in order: the first blocked lane has the slot that gets credit first.
      bool const polls = simt::lane_id() ==
                         static_cast<unsigned>(simt::first_bit(blocked));  // mutation: warp-last
      bool alive = true;
      if (polls) {
        ref_.count_wait();
        alive = ref_.wait_for_credit(mine.server, mine.index);
      }
      if (simt::any(group, !alive)) return false;
      if (pending) pending = !publish(mine, m);
    }
    return true;
  }

  Ref const& ref_;
};

WARDEN_NAMESPACE_END
