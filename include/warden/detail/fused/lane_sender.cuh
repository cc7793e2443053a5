// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages that a warp's lanes send, until the warp publishes them.
#pragma once

#include <warden/detail/execute/owner_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Sends for one lane of a warp. It keeps at most one message until all lanes have run theirs. Then
/// all reservations are in progress at once, and no lane holds a lock during them. Precondition:
/// the lane holds a credit for the message.
template <class Ref>
class lane_sender {
 public:
  /// Message with room for the largest section.
  using message_type = typename Ref::message_type;

  /// Constructs a sender without a message.
  WARDEN_DEVICE explicit lane_sender(Ref const& ref) : ref_{ref} {}

  /// Returns true if the section may send `left` more. Otherwise counts the attempt. Required by
  /// section_client.
  WARDEN_DEVICE bool may_send(unsigned left) const { return ref_.check_sends(left); }
  /// Sends a section. An invalid id is counted and not sent. Required by section_client.
  template <class Section>
  WARDEN_DEVICE void send(std::uint64_t id, Section const& section) {
    if (ref_.check(id)) put(ref_.owners(static_cast<std::uint32_t>(id)), section);
  }
  /// Sends to the owner of a record. Never waits.
  template <class Sent>
  WARDEN_DEVICE void put(record_location to, Sent const& sent) {
    message_ = Ref::format::pack(to.local, sent);
    server_ = to.server;
  }
  /// Reserves an index for the kept message. Called by all lanes together, which hold no lock. Code
  /// between this call and `publish` does not wait for the result.
  WARDEN_DEVICE void reserve() {
    if (server_ != no_server) index_ = ref_.rings.ring_of(server_).reserve(1);
  }
  /// Publishes the kept message. Returns the number of messages published, 0 or 1.
  WARDEN_DEVICE unsigned publish() const {
    if (server_ == no_server) return 0;
    // Release, by the thread that ran the section.
    if constexpr (Ref::fences) simt::fence_device();  // mutation: lane-fence
    ref_.publish_reserved(server_, index_, message_);
    return 1;
  }

 private:
  static constexpr std::uint32_t no_server = ~0u;

  Ref const& ref_;
  message_type message_{};
  std::uint32_t server_ = no_server;
  std::uint64_t index_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
