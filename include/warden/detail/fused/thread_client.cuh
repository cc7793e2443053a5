// SPDX-License-Identifier: Apache-2.0
/// @file
/// Client of one thread, in any control flow: each send reserves one slot and publishes it.
#pragma once

#include <warden/detail/fused/future.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Reserves one slot, waits for credit and publishes. Returns false if the launch is poisoned.
template <class Ref>
WARDEN_DEVICE bool send_alone(Ref const& ref, std::uint32_t server,
                              typename Ref::client_message const& m) {
  auto const channel = ref.channel_of(server);
  std::uint64_t const index = channel.reserve(1);
  if (!channel.has_credit(index, channel.released())) {
    ref.count_wait();
    if (!ref.wait_for_credit(server, index)) return false;
  }
  ref.publish(channel, index, m);
  ref.count_batch(1);
  return true;
}

}  // namespace detail

/// A thread's client of one guarded array.
template <class Ref>
class thread_client {
 public:
  /// Constructs a client. `at` is the virtual block that the kernel was called with. Precondition:
  /// both outlive the client.
  WARDEN_DEVICE thread_client(Ref const& ref, virtual_block const& at) : ref_{ref}, block_{at} {}
  /// Deleted: a section has no client block and must not send, call or wait through one.
  explicit thread_client(Ref const&) = delete;

  /// Sends the section to the owner of record `id`. Waits while the owner's channel is full. If it
  /// returns true the section is accepted and will be executed exactly once. Returns false only if
  /// the launch is poisoned. An id outside the records is counted, not sent, and reported by
  /// `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section) const {
    return !ref_.check(id) || send_to_owner(id, section);
  }
  /// Sends a section on two records. With the executor locks, both records need the same owner:
  /// other pairs are counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section) const {
    if (!ref_.check(first, second)) return true;
    auto const pair = ref_.pair(first, second, section, true);
    return send_to_owner(pair.id, pair.sent);
  }

  /// Sends a section that answers. The future receives the return value. Precondition: the future
  /// of the thread's call `calls_per_thread` calls ago was consumed or destroyed.
  template <class Section>
  WARDEN_DEVICE auto call(std::uint64_t id, Section const& section) const {
    return call_owner<Section>(id, section, ref_.check(id));
  }
  /// Calls a section on two records.
  template <class Section>
  WARDEN_DEVICE auto call(std::uint64_t first, std::uint64_t second, Section const& section) const {
    bool const good = ref_.check(first, second);
    auto const pair = ref_.pair(first, second, section, good);
    return call_owner<Section>(pair.id, pair.sent, good);
  }

 private:
  template <class Sent>
  WARDEN_DEVICE bool send_to_owner(std::uint64_t id, Sent const& section) const {
    record_location const to = ref_.owners(static_cast<std::uint32_t>(id));
    return detail::send_alone(ref_, to.server, Ref::client_format::pack(to.local, section));
  }
  template <class Section, class Sent>
  WARDEN_DEVICE auto call_owner(std::uint64_t id, Sent const& section, bool good) const {
    static_assert(!std::is_void_v<answer_of<Section, typename Ref::record, typename Ref::context>>,
                  "warden: the section returns nothing: send it, do not call it");
    using result = future<Ref, answer_of<Section, typename Ref::record, typename Ref::context>>;
    if (!good) return result{call_error::bad_id};
    detail::call_book<Ref> const book{ref_, block_};
    auto const opened = book.open(/*staged*/ false);
    if (opened.error != call_error::none) return result{opened.error};
    result answer{book, opened.number};
    // If the launch is poisoned, the future reports it.
    static_cast<void>(send_to_owner(id, Ref::with_address(section, opened.to)));
    return answer;
  }

  Ref const& ref_;
  virtual_block const& block_;
};

WARDEN_NAMESPACE_END
