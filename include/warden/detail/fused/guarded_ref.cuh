// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded array as device code sees it, by value: channels, owner map, records and limits.
#pragma once

#include <warden/detail/block/record_id.cuh>
#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/owner_map.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/fused/guarded_types.cuh>
#include <warden/detail/fused/launch_control.cuh>
#include <warden/detail/fused/lock_queues.cuh>
#include <warden/simt/architecture.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// A guarded array as device code sees it. Trivially copyable; pass it by value. A launch makes it
/// for its own duration.
template <class Policy, class Record, class... Sections>
class guarded_ref : public guarded_types<Policy, Record, Sections...>, public detail::run_window {
  using types = guarded_types<Policy, Record, Sections...>;

 public:
  using typename types::channel;
  using typename types::client_message;
  using typename types::context;
  using typename types::message_type;
  using typename types::ring;
  using typename types::rings_type;
  using typename types::slots_of_answers;
  using types::fences;
  using types::in_order;
  using types::max_sends;
  using types::nests;

  /// False: windows are combined whole, see sorted_worker.
  static constexpr bool combines_segments = false;
  /// Server loop of the policy's executor.
  using server = typename types::executor::template server<guarded_ref>;
  /// Staging of the policy's sender.
  using outbox = typename Policy::sender::template outbox<guarded_ref>;

  // Filled by the host; constant during a launch.
  Record* records = nullptr;                   ///< `size` records in global memory
  std::uint64_t size = 0;                      ///< records
  context sections_context{};                  ///< context of every section
  detail::channel_indices* indices = nullptr;  ///< one for each server
  simt::flit_words* slots = nullptr;           ///< slots of all channels, see channel::begin
  detail::guarded_report* report = nullptr;    ///< one for each guarded array, in global memory
  slots_of_answers answers_to{};               ///< slots of the launch's client threads
  rings_type rings{};                          ///< rings between the servers
  /// Memory for messages that servers set aside.
  std::conditional_t<nests, detail::lock_queue_memory<message_type>, detail::nothing> waiting{};
  typename Policy::owner_map owners{};  ///< record id to server and local number
  std::uint32_t locals = 0;             ///< maximum of records of one server
  std::uint32_t capacity_log2 = 0;      ///< binary logarithm of the slots of one channel
  std::uint32_t position = 0;           ///< position among the launch's guarded arrays
  std::uint32_t outbox_offset = 0;      ///< offset of the outbox in the block's shared memory
  bool has_outbox = true;               ///< see gathers
  detail::launch_ref launch{};          ///< the launch of this ref

  /// Returns the number of this guarded array's launches so far, including this one.
  WARDEN_DEVICE std::uint64_t launch_number() const {
    return launch.members[position].launch_number;
  }
  /// Returns true if the launch's client blocks have outboxes. A compile-time constant where every
  /// device has room for them, because a run-time test would spill registers.
  WARDEN_DEVICE bool gathers() const {
    return !simt::may_have_small_blocks(simt::compiled_architecture) || has_outbox;
  }
  /// Returns the channel of a server. Precondition: `server` < `owners.servers()`.
  WARDEN_DEVICE channel channel_of(std::uint32_t server) const {
    return channel{indices + server, slots + channel::begin(server, capacity_log2), capacity_log2};
  }

  /// A section on two records, and the record to whose owner it is sent.
  template <class Section>
  struct pair_to {
    std::uint64_t id;              ///< record whose owner receives the section
    detail::paired<Section> sent;  ///< section as it is sent
  };
  /// Chooses the record that is locked first: the one with the greater lock, by number of the lock,
  /// then by server. The sender's order does not matter. Ordered by server first, the last server
  /// would begin twice as many sections as the average server. `good` is true if both ids are
  /// records.
  template <class Section>
  WARDEN_DEVICE pair_to<Section> pair(std::uint64_t first, std::uint64_t second,
                                      Section const& section, bool good) const {
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    bool swapped = false;
    if constexpr (nests) {
      if (good) swapped = lock_order(owners(a)) < lock_order(owners(b));  // mutation: lock-order
    }
    detail::partner const other{swapped ? a : b, swapped};
    return {swapped ? second : first, {detail::prefixed<Section>::of(section, other.word())}};
  }
  /// Returns the position of a record's lock in the order of all locks.
  WARDEN_DEVICE static std::uint64_t lock_order(record_location place) {
    return std::uint64_t{types::executor::lock_of(place.local)} << 32 | place.server;
  }
  /// Returns a section as it is sent when it is called.
  template <class Sent>
  WARDEN_DEVICE static detail::called<Sent> with_address(Sent const& sent,
                                                         detail::return_address to) {
    return {detail::prefixed<Sent>::of(sent, to.bits)};
  }

  /// Returns true if `id` names a record. Otherwise counts it, and keeps the first bad id.
  WARDEN_DEVICE bool check(std::uint64_t id) const { return report->check(id, size); }

  /// Returns true if a section may send `left` more, otherwise counts the attempt.
  WARDEN_DEVICE bool check_sends(unsigned left) const {
    if (left != 0) return true;
    simt::fetch_add(&report->sends_too_many, std::uint64_t{1});
    return false;
  }

  /// Returns true if both records exist and one server may run the section. Counts a pair with two
  /// owners, and keeps the first one.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    if (!check(first) || !check(second)) return false;
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    if (nests || owners(a).server == owners(b).server) return true;  // mutation: apart
    if (simt::fetch_add(&report->apart, std::uint64_t{1}) == 0)
      simt::store_relaxed(&report->first_apart, std::uint64_t{a} << 32 | b);
    return false;
  }

  /// Returns the record of a server's local number, in global memory.
  WARDEN_DEVICE Record* record_of(std::uint32_t server, std::uint32_t local) const {
    return records + owners.id({server, local});
  }
  /// Returns the id of the record of a server's local number.
  WARDEN_DEVICE record_id id_of(std::uint32_t server, std::uint32_t local) const {
    return {owners.id({server, local})};
  }
  /// Notes, for statistics, how full the channel was when slots from `released` on were given back.
  template <class Channel>
  WARDEN_DEVICE void note_fullness(Channel const& c, std::uint64_t released) const {
    if constexpr (Policy::statistics) {
      std::uint64_t const used = simt::load_relaxed(&c.indices()->reserved.value) - released;
      simt::fetch_max(&report->totals.fullest_channel, used < c.capacity() ? used : c.capacity());
    }
  }

  /// Waits for `predicate` on behalf of this guarded array. Returns false if the launch is
  /// poisoned.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t server, std::uint64_t index) const {
    return launch.wait_until(predicate, watch, kind, position, server, index,
                             !nests && kind == wait_kind::lock);
  }
  /// Publishes a message of this thread. The thread's earlier writes become visible to a thread
  /// that reads the message and then fences.
  WARDEN_DEVICE void publish(channel const& to, std::uint64_t index,
                             client_message const& m) const {
    // With a bit-mask, the channel's own publishing fences.
    if constexpr (fences && channel::in_band) simt::fence_device();  // mutation: send-fence
    to.publish(index, m);
  }
  /// Publishes a message in a ring, at its reserved index. Never waits. Poisons the launch if the
  /// slot has no room, which cannot happen if each section sends at most one section.
  WARDEN_DEVICE void publish_reserved(std::uint32_t server, std::uint64_t index,
                                      message_type const& m) const {
    ring const to = rings.ring_of(server);
    if constexpr (max_sends > 1) {
      // A load may return an older released index. If the latest value gives no room either, the
      // launch cannot go on.
      if (!to.has_credit(index, to.released()) && !to.has_credit(index, to.latest_released())) {
        launch.poison(wait_kind::room, position, server, to.capacity());
        return;
      }
    }
    to.publish(index, m);
  }
  /// Waits until the slot of an index reserved at `server` may be written. Returns false if the
  /// launch is poisoned.
  WARDEN_DEVICE bool wait_for_credit(std::uint32_t server, std::uint64_t index) const {
    auto const to = channel_of(server);
    return wait_until([&] { return to.has_credit(index, to.released()); },
                      [&](auto watch) { watch(&to.indices()->released.value); }, wait_kind::credit,
                      server, index);
  }

  /// Counts, for statistics, `messages` messages that one reservation accepted.
  WARDEN_DEVICE void count_batch(std::uint64_t messages) const {
    if constexpr (Policy::statistics) {
      simt::fetch_add(&report->totals.messages, messages);
      simt::fetch_add(&report->totals.batches, std::uint64_t{1});
    }
  }
  /// Counts, for statistics, that a client ran out of credit.
  WARDEN_DEVICE void count_wait() const {
    if constexpr (Policy::statistics) simt::fetch_add(&report->totals.waits, std::uint64_t{1});
  }
};

WARDEN_NAMESPACE_END
