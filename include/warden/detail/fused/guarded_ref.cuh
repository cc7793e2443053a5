// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded array as device code sees it: channels, owner map, records and limits, by value.
#pragma once

#include <warden/detail/execute/guarded_report.cuh>
#include <warden/detail/execute/run_window.cuh>
#include <warden/detail/fused/guarded_types.cuh>
#include <warden/detail/fused/launch_control.cuh>
#include <warden/detail/fused/lock_queues.cuh>
#include <warden/owner_map.cuh>
#include <warden/simt/architecture.cuh>

#include <cstdint>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// A guarded array as device code sees it. Trivially copyable; pass it by value. Made by a launch
/// for its own duration.
template <class Policy, class Record, class... Sections>
class guarded_ref : public guarded_types<Policy, Record, Sections...>, public detail::run_window {
  using types = guarded_types<Policy, Record, Sections...>;

 public:
  using typename types::channel;
  using typename types::client_message;
  using typename types::context;
  using typename types::forwards_type;
  using typename types::message_type;
  using typename types::ring;
  using typename types::slots_of_answers;
  using types::fences;
  using types::in_order;
  using types::max_sends;
  using types::nests;

  /// Windows are combined whole, see sorted_worker.
  static constexpr bool combines_runs = false;
  /// The server loop of the policy's executor.
  using server = typename types::executor::template server<guarded_ref>;
  /// The staging of the policy's sender.
  using outbox = typename Policy::sender::template outbox<guarded_ref>;

  // Filled by the host; constant during a launch.
  Record* records = nullptr;                   ///< `size` records in global memory
  std::uint64_t size = 0;                      ///< records
  context sections_context{};                  ///< handed to every section
  detail::channel_indices* indices = nullptr;  ///< one a server
  simt::flit_words* slots = nullptr;           ///< of all channels, see channel::begin
  detail::guarded_report* report = nullptr;    ///< one a guarded, in global memory
  slots_of_answers answers_to{};               ///< of the launch's client threads
  forwards_type rings{};                       ///< between the servers
  /// Where servers set messages aside.
  std::conditional_t<nests, detail::lock_queue_memory<message_type>, detail::nothing> aside{};
  typename Policy::owner_map owners{};  ///< record id to server and local number
  std::uint32_t locals = 0;             ///< records of one server, at most
  std::uint32_t capacity_log2 = 0;      ///< of the slots of one channel
  std::uint32_t position = 0;           ///< among the launch's guarded arrays
  std::uint32_t outbox_offset = 0;      ///< of the outbox in the block's shared memory
  bool has_outbox = true;               ///< see gathers
  detail::launch_ref launch{};          ///< the launch it takes part in

  /// This guarded array's launches so far, this one included.
  WARDEN_DEVICE std::uint64_t launch_number() const {
    return launch.members[position].launch_number;
  }
  /// Returns true if the launch's client blocks have outboxes. The compiler knows that where every
  /// device has room for them: elsewhere registers spill.
  WARDEN_DEVICE bool gathers() const {
    return !simt::may_have_small_blocks(simt::compiled_architecture) || has_outbox;
  }
  /// The channel of a server below `owners.servers()`.
  WARDEN_DEVICE channel channel_of(std::uint32_t server) const {
    return channel{indices + server, slots + channel::begin(server, capacity_log2), capacity_log2};
  }

  /// A section on two records, and the record to whose owner it is sent.
  template <class Section>
  struct pair_to {
    std::uint64_t id;              ///< of the record whose owner gets it
    detail::paired<Section> sent;  ///< what travels
  };
  /// Chooses the record that is locked first, the one with the greater lock: by number of the lock,
  /// then by server, whatever order the sender names them in. (By server first, the last server
  /// would begin twice as many sections as the average one.) `good` if both are records.
  template <class Section>
  WARDEN_DEVICE pair_to<Section> pair(std::uint64_t first, std::uint64_t second,
                                      Section const& section, bool good) const {
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    bool by_second = false;
    if constexpr (nests) {
      if (good) by_second = lock_order(owners(a)) < lock_order(owners(b));  // mutation: lock-order
    }
    detail::partner const other{by_second ? a : b, by_second};
    return {by_second ? second : first, {detail::prefixed<Section>::of(section, other.word())}};
  }
  /// Where a record's lock stands among all locks.
  WARDEN_DEVICE static std::uint64_t lock_order(record_location place) {
    return std::uint64_t{types::executor::lock_of(place.local)} << 32 | place.server;
  }
  /// What is sent, when it is called.
  template <class Sent>
  WARDEN_DEVICE static detail::called<Sent> with_address(Sent const& sent,
                                                         detail::return_address to) {
    return {detail::prefixed<Sent>::of(sent, to.bits)};
  }

  /// Counts a bad id, keeps the first one; true if `id` names a record.
  WARDEN_DEVICE bool check(std::uint64_t id) const { return report->check(id, size); }

  /// False, and counted, if a section has sent all that it may: `left` more.
  WARDEN_DEVICE bool check_sends(unsigned left) const {
    if (left != 0) return true;
    simt::fetch_add(&report->sends_too_many, std::uint64_t{1});
    return false;
  }

  /// Checks both records of one section; counts a pair with two owners, keeps the first one.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    if (!check(first) || !check(second)) return false;
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    if (nests || owners(a).server == owners(b).server) return true;  // mutation: apart
    if (simt::fetch_add(&report->apart, std::uint64_t{1}) == 0)
      simt::store_relaxed(&report->first_apart, std::uint64_t{a} << 32 | b);
    return false;
  }

  /// The record of a server's local number, in global memory.
  WARDEN_DEVICE Record* record_of(std::uint32_t server, std::uint32_t local) const {
    return records + owners.id({server, local});
  }
  /// For statistics: how full the channel was when slots from `released` on were given back.
  template <class Channel>
  WARDEN_DEVICE void note_fullness(Channel const& c, std::uint64_t released) const {
    if constexpr (Policy::statistics) {
      std::uint64_t const used = simt::load_relaxed(&c.indices()->reserved.value) - released;
      simt::fetch_max(&report->totals.fullest_channel, used < c.capacity() ? used : c.capacity());
    }
  }

  /// Waits for `predicate` on behalf of this guarded array; false once poisoned.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t server, std::uint64_t index) const {
    return launch.wait_until(predicate, watch, kind, position, server, index,
                             !nests && kind == wait_kind::lock);
  }
  /// Publishes a message of this thread, whose earlier writes become visible to whoever reads it
  /// and fences.
  WARDEN_DEVICE void publish(channel const& to, std::uint64_t index,
                             client_message const& m) const {
    // With a bit-mask it is publishing that fences.
    if constexpr (fences && channel::in_band) simt::fence_device();  // mutation: send-fence
    to.publish(index, m);
  }
  /// Publishes a message in a ring, where it has its index. Never waits: without room in the slots
  /// the launch is poisoned, which sections that send one other at most cannot bring about.
  WARDEN_DEVICE void publish_reserved(std::uint32_t server, std::uint64_t index,
                                      message_type const& m) const {
    ring const to = rings.ring_of(server);
    if constexpr (max_sends > 1) {
      // A load may return what was released earlier; nothing helps against the latest value.
      if (!to.has_credit(index, to.released()) && !to.has_credit(index, to.latest_released())) {
        launch.poison(wait_kind::room, position, server, to.capacity());
        return;
      }
    }
    to.publish(index, m);
  }
  /// Waits until the slot of an index reserved at `server` may be written; false once poisoned.
  WARDEN_DEVICE bool wait_for_credit(std::uint32_t server, std::uint64_t index) const {
    auto const to = channel_of(server);
    return wait_until([&] { return to.has_credit(index, to.released()); },
                      [&](auto watch) { watch(&to.indices()->released.value); }, wait_kind::credit,
                      server, index);
  }

  /// For the statistics: so many messages were accepted, by one reservation.
  WARDEN_DEVICE void count_batch(std::uint64_t messages) const {
    if constexpr (Policy::statistics) {
      simt::fetch_add(&report->totals.messages, messages);
      simt::fetch_add(&report->totals.batches, std::uint64_t{1});
    }
  }
  /// For the statistics: a client ran out of credit.
  WARDEN_DEVICE void count_wait() const {
    if constexpr (Policy::statistics) simt::fetch_add(&report->totals.waits, std::uint64_t{1});
  }
};

WARDEN_NAMESPACE_END
