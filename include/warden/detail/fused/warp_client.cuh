// SPDX-License-Identifier: Apache-2.0
/// @file
/// Client of the lanes of a warp that send together: one reservation for each destination among
/// them, and adjacent lanes publish to adjacent slots.
#pragma once

#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A thread's part of its warp's client of one guarded array.
template <class Ref>
class warp_client {
 public:
  /// Constructs a client. `at` is the virtual block that the kernel was called with. Precondition:
  /// `ref` outlives the client.
  WARDEN_DEVICE warp_client(Ref const& ref, virtual_block const&) : ref_{ref} {}
  /// Deleted: a section has no client block and must not send or wait through one.
  explicit warp_client(Ref const&) = delete;

  /// Sends each lane's section to the owner of its record `id`. Collective over exactly the lanes
  /// in `mask`; a lane without a section passes `valid` false. Waits while an owner's channel is
  /// full. If it returns true the sections of all these lanes are accepted: each will be executed
  /// exactly once. Returns false only if the launch is poisoned, and then in all these lanes. An id
  /// outside the records is counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(unsigned mask, std::uint64_t id, Section const& section,
                          bool valid = true) const {
    return send_together(mask, id, section, valid && ref_.check(id));
  }
  /// Sends sections on two records. With the executor locks, both records need the same owner:
  /// other pairs are counted, not sent, and reported by `wait`.
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
    // Lanes without a message form a group, under a number that no server has.
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

    // Every message with credit is published before any lane waits. From there on each group
    // continues alone, so its wait for one destination delays no slot of another.
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

  /// Waits and publishes until no lane of the group is pending. All lanes of the group have one
  /// destination. Collective over the group. Returns false if the launch is poisoned.
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
