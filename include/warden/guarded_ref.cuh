// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded as device code sees it: channels, owner map, records and limits, by value.
#pragma once

#include <warden/channel.cuh>
#include <warden/launch_control.cuh>
#include <warden/message.cuh>
#include <warden/owner_map.cuh>
#include <warden/statistics.cuh>

#include <cstdint>
#include <tuple>

WARDEN_NAMESPACE_BEGIN

/// What a guarded's clients report to the host; cleared when `wait` has reported it.
struct guarded_report {
  std::uint64_t bad_ids;       ///< sends with an id outside the records
  std::uint64_t first_bad_id;  ///< the first such id, if there is one
  std::uint64_t unflushed;     ///< messages that were staged and never flushed
  statistics totals;           ///< never cleared; zero unless `Policy::statistics`
};

/// Trivially copyable; pass it to device code by value. Made by a launch for its own duration.
template <class Policy, class Record, class... Sections>
class guarded_ref {
 public:
  /// What the guarded was tuned by.
  using policy = Policy;
  /// The type of one protected item.
  using record = Record;
  /// What every section is handed beside its record.
  using context = typename Policy::context;
  /// The section, where a guarded has one type alone; the first otherwise.
  using section = std::tuple_element_t<0, std::tuple<Sections...>>;
  /// How sections are written into messages.
  using format = message_format<Sections...>;
  /// A message with room for the largest section.
  using message_type = typename format::message_type;
  /// The channels of this guarded.
  using channel = typename Policy::readiness::template channel<format::lanes>;

  /// The server loop of the policy's executor.
  using server = typename Policy::executor::template server<guarded_ref>;
  /// The staging of the policy's sender.
  using outbox = typename Policy::sender::template outbox<guarded_ref>;

  /// Whether any of the sections needs fences around its messages.
  static constexpr bool fences = (reads_other_memory<Sections>() || ...);

  // Filled by the host; constant during a launch.
  Record* records = nullptr;               ///< `size` records in global memory
  std::uint64_t size = 0;                  ///< records
  context sections_context{};              ///< handed to every section
  channel_indices* indices = nullptr;      ///< one a server
  simt::lane_words* slots = nullptr;       ///< of all channels, see channel::begin
  guarded_report* report = nullptr;        ///< one a guarded, in global memory
  interleaved_owner_map owners{};          ///< record id to server and local number
  std::uint32_t locals = 0;                ///< records of one server, at most
  std::uint32_t capacity_log2 = 0;         ///< of the slots of one channel
  std::uint32_t position = 0;              ///< among the launch's guardeds
  std::uint32_t outbox_offset = 0;         ///< of the outbox in the block's shared memory
  launch_health const* earlier = nullptr;  ///< of the launch before; null if that was reported
  std::uint64_t launch_number = 0;         ///< this guarded's launches so far, this one included
  launch_frame frame{};                    ///< the launch it takes part in

  /// The channel of a server below `owners.servers()`.
  WARDEN_DEVICE channel channel_of(std::uint32_t server) const {
    return channel{indices + server, slots + channel::begin(server, capacity_log2), capacity_log2};
  }

  /// Counts a bad id, keeps the first one; true if `id` names a record.
  WARDEN_DEVICE bool check(std::uint64_t id) const {
    if (id < size) return true;  // sabotage: bounds
    if (simt::fetch_add(&report->bad_ids, std::uint64_t{1}) == 0) {
      simt::store_relaxed(&report->first_bad_id, id);
    }
    return false;
  }

  /// The record of a server's local number, in global memory.
  WARDEN_DEVICE Record* record_of(std::uint32_t server, std::uint32_t local) const {
    return records + owners.id({server, local});
  }
  /// Runs the section that a message carries on `r`: the record, or the copy that its owner holds.
  WARDEN_DEVICE void apply(message_type const& m, Record& r) const {
    with_section(m, [&](auto const& section) { section(r, sections_context); });
  }
  /// Runs the section that a message carries as one atomic on `r`.
  WARDEN_DEVICE void apply_atomic(message_type const& m, Record* r) const {
    static_assert(
        (has_atomic<Sections, Record, context> && ...),
        "warden: a section has no member void atomic(Record*, Context) const: it cannot be "
        "run by the executor atomics");
    with_section(m, [&](auto const& section) { section.atomic(r, sections_context); });
  }

  /// Whether all that clients will ever send to a channel was executed. Clients first: only when
  /// all are done is `reserved` final, and only then does it mean something that as many were
  /// executed.
  WARDEN_DEVICE bool work_has_ended(channel const& c) const {
    bool const clients_done = simt::load_relaxed(&frame.control->counters.client_blocks_done) ==
                              frame.client_blocks;  // sabotage: end-of-work
    if (!clients_done) return false;
    // Acquire, once: the client blocks reserved before they counted themselves done.
    simt::fence_device();
    return simt::load_relaxed(&c.indices()->executed.value) ==
           simt::load_relaxed(&c.indices()->reserved.value);
  }
  /// For statistics: how full the channel was when slots from `released` on were given back.
  WARDEN_DEVICE void note_fullness(channel const& c, std::uint64_t released) const {
    if constexpr (policy::statistics) {
      std::uint64_t const used = simt::load_relaxed(&c.indices()->reserved.value) - released;
      simt::fetch_max(&report->totals.fullest_channel, used < c.capacity() ? used : c.capacity());
    }
  }

  /// Waits for `predicate` on behalf of this guarded; false once poisoned.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t server, std::uint64_t index) const {
    return frame.wait_until(predicate, watch, kind, position, server, index);
  }
  /// Publishes a message of this thread, whose earlier writes become visible to whoever reads it
  /// and fences.
  WARDEN_DEVICE void publish(channel const& to, std::uint64_t index, message_type const& m) const {
    // With a bit-mask it is publishing that fences.
    if constexpr (fences && channel::in_band) simt::fence_device();  // sabotage: send-fence
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

 private:
  /// Calls `f` with the section that a message carries.
  template <class F>
  WARDEN_DEVICE void with_section(message_type const& m, F f) const {
    // With one type alone there is nothing to tell apart.
    unsigned const tag = sizeof...(Sections) == 1 ? 0 : m.tag();
    ((tag == format::template tag_of<Sections>()
          ? static_cast<void>(f(format::template unpack<Sections>(m)))
          : static_cast<void>(0)),
     ...);
  }
};

WARDEN_NAMESPACE_END
