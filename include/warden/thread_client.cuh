// SPDX-License-Identifier: Apache-2.0
/// @file
/// The client for one thread in any control flow: each send reserves its own slot and publishes it.
#pragma once

#include <warden/guarded_ref.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// One a thread, made where it is needed: it holds nothing but the ref.
template <class Ref>
class thread_client {
 public:
  /// `ref` outlives the client.
  WARDEN_DEVICE explicit thread_client(Ref const& ref) : ref_{ref} {}

  /// Hands the section to the owner of record `id`. Waits while the owner's channel is full. When
  /// it returns true the section is accepted: it will be executed exactly once. False only once the
  /// launch is poisoned. An id outside the records is counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section) const {
    if (!ref_.check(id)) return true;
    owner const to = ref_.owners(static_cast<std::uint32_t>(id));
    return send_message(to.server, Ref::format::pack(to.local, section));
  }

  /// As send, for a message that is packed already.
  WARDEN_DEVICE bool send_message(std::uint32_t server, typename Ref::message_type const& m) const {
    auto const channel = ref_.channel_of(server);
    std::uint64_t const index = channel.reserve(1);
    if (!channel.has_credit(index, channel.released())) {
      ref_.count_wait();
      if (!ref_.wait_for_credit(server, index)) return false;
    }
    ref_.publish(channel, index, m);
    ref_.count_batch(1);
    return true;
  }

 private:
  Ref const& ref_;
};

WARDEN_NAMESPACE_END
