// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the messages of a warp's lanes send on, until the warp publishes it.
#pragma once

#include <warden/owner_map.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// What one lane of a warp sends by. What it sends, one message at most, is kept until all lanes
/// have run theirs: all reservations are then under way at once, and no lock is held meanwhile.
/// Whoever sends holds a credit for the message.
template <class Ref>
class lane_sender {
 public:
  /// A message with room for the largest section.
  using message_type = typename Ref::message_type;

  /// A sender that has sent nothing.
  WARDEN_DEVICE explicit lane_sender(Ref const& ref) : ref_{ref} {}

  /// For section_client: false, and counted, once it has sent all it may.
  WARDEN_DEVICE bool may_send(unsigned left) const { return ref_.check_sends(left); }
  /// For section_client. An id that is no record's is counted, and not sent.
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
  /// Takes an index for the message that was kept. By all lanes together; holding no lock. What
  /// comes before `publish` does not wait for it.
  WARDEN_DEVICE void reserve() {
    if (server_ != nobody) index_ = ref_.rings.ring_of(server_).reserve(1);
  }
  /// Publishes it. Returns how many there were.
  WARDEN_DEVICE unsigned publish() const {
    if (server_ == nobody) return 0;
    // Release, by the thread that ran the section.
    if constexpr (Ref::fences) simt::fence_device();  // mutation: lane-fence
    ref_.publish_reserved(server_, index_, message_);
    return 1;
  }

 private:
  static constexpr std::uint32_t nobody = ~0u;

  Ref const& ref_;
  message_type message_{};
  std::uint32_t server_ = nobody;
  std::uint64_t index_ = 0;
};

}  // namespace detail
WARDEN_NAMESPACE_END
