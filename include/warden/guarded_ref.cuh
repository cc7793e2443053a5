// SPDX-License-Identifier: Apache-2.0
/// @file
/// A guarded as device code sees it: channels, owner map, records and limits, by value.
#pragma once

#include <warden/answer_slots.cuh>
#include <warden/channel.cuh>
#include <warden/forward_rings.cuh>
#include <warden/launch_control.cuh>
#include <warden/message.cuh>
#include <warden/owner_map.cuh>
#include <warden/section_client.cuh>
#include <warden/set_aside.cuh>
#include <warden/statistics.cuh>
#include <warden/traveling.cuh>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

WARDEN_NAMESPACE_BEGIN

/// What a guarded's clients report to the host; cleared when `wait` has reported it.
struct guarded_report {
  std::uint64_t bad_ids;            ///< sends with an id outside the records
  std::uint64_t first_bad_id;       ///< the first such id, if there is one
  std::uint64_t apart;              ///< sends whose two records have different owners
  std::uint64_t first_apart;        ///< the first such: the ids of its records, 32 bits each
  std::uint64_t unflushed;          ///< messages that were staged and never flushed
  std::uint64_t unflushed_calls;    ///< calls that were staged and never flushed
  std::uint64_t calls_too_many;     ///< calls whose place an earlier one still had
  std::uint64_t early_gets;         ///< answers asked for before the block client had flushed
  std::uint64_t forwards_too_many;  ///< sections sent by sections, beyond what those declare
  statistics totals;                ///< never cleared; zero unless `Policy::statistics`
};

/// Nothing: for guardeds none of whose sections answers.
struct no_answer {};

/// Nothing: for guardeds whose servers send nothing, or set nothing aside.
struct nothing {};

/// An answer on its way from the section to the caller.
template <class Message>
struct pending_answer {
  return_address to{return_address::nowhere};  ///< nowhere: the section was sent, not called
  Message message{};                           ///< if it goes anywhere
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
  /// Whether any of the sections is on two records.
  static constexpr bool has_pairs = (pair_section_of<Sections, Record, context> || ...);
  /// Whether such sections may have two owners: its servers then send messages and set them aside,
  /// whether there are any or not.
  static constexpr bool nests = pairs_taken_by<typename Policy::executor> == pairs_of::any_owners;
  /// How sections are written into messages.
  using format = format_for<has_pairs && nests, Record, context, Sections...>;
  /// A message with room for the largest section, and for all that servers send.
  using message_type = typename format::message_type;
  /// How clients write sections into theirs; the same as far as they go.
  using client_format = format_for<false, Record, context, Sections...>;
  /// A message with room for the largest section.
  using client_message = typename client_format::message_type;
  /// The channels of this guarded.
  using channel = typename Policy::readiness::template channel<client_format::lanes>;
  /// The rings between its servers.
  using ring = typename Policy::readiness::template channel<format::lanes>;

  /// How answers are written.
  using answers = answer_format<std::max({answer_bytes<Sections, Record, context>...})>;
  /// Whether any of the sections answers.
  static constexpr bool has_answers = answers::lanes != 0;
  /// Where answers arrive.
  using slots_of_answers =
      std::conditional_t<has_answers, answer_slots<answers::lanes, Policy::calls_per_thread>,
                         no_answer>;
  /// What `apply` leaves of a section's answer, until `reply`.
  using reply_type =
      std::conditional_t<has_answers, pending_answer<typename answers::message_type>, no_answer>;

  /// How many messages a server sends for one it has received, at most.
  static constexpr unsigned most_forwards =
      std::max({nests ? 1u : 0u, forwards_of<Sections, Record, context>...});
  static_assert(!nests || most_forwards == 1,
                "warden: with the executor nested a section sends one other at most");
  /// Whether servers send messages.
  static constexpr bool has_forwards = most_forwards != 0;
  /// How servers send messages.
  using forwards_type = std::conditional_t<has_forwards, forward_rings<ring>, nothing>;

  /// The server loop of the policy's executor.
  using server = typename Policy::executor::template server<guarded_ref>;
  /// The staging of the policy's sender.
  using outbox = typename Policy::sender::template outbox<guarded_ref>;

  /// Whether any of the sections needs fences around its messages.
  static constexpr bool fences = (reads_other_memory<Sections>() || ...);

  // Filled by the host; constant during a launch.
  Record* records = nullptr;           ///< `size` records in global memory
  std::uint64_t size = 0;              ///< records
  context sections_context{};          ///< handed to every section
  channel_indices* indices = nullptr;  ///< one a server
  simt::lane_words* slots = nullptr;   ///< of all channels, see channel::begin
  guarded_report* report = nullptr;    ///< one a guarded, in global memory
  slots_of_answers answers_to{};       ///< of the launch's client threads
  forwards_type rings{};               ///< between the servers
  /// Where servers set messages aside.
  std::conditional_t<nests, set_aside_memory<message_type>, nothing> aside{};
  typename Policy::owner_map owners{};  ///< record id to server and local number
  std::uint32_t locals = 0;             ///< records of one server, at most
  std::uint32_t capacity_log2 = 0;      ///< of the slots of one channel
  std::uint32_t position = 0;           ///< among the launch's guardeds
  std::uint32_t outbox_offset = 0;      ///< of the outbox in the block's shared memory
  launch_frame frame{};                 ///< the launch it takes part in

  /// This guarded's launches so far, this one included.
  WARDEN_DEVICE std::uint64_t launch_number() const {
    return frame.members[position].launch_number;
  }
  /// The channel of a server below `owners.servers()`.
  WARDEN_DEVICE channel channel_of(std::uint32_t server) const {
    return channel{indices + server, slots + channel::begin(server, capacity_log2), capacity_log2};
  }

  /// A section on two records, and the record to whose owner it is sent.
  template <class Section>
  struct pair_to {
    std::uint64_t id;      ///< of the record whose owner gets it
    paired<Section> sent;  ///< what travels
  };
  /// Of two records the one with the greater lock is locked first: by number of the lock, then by
  /// server, whatever order the sender names them in. (By server first, the last server would begin
  /// twice as many sections as the average one.) `good` if both are records.
  template <class Section>
  WARDEN_DEVICE pair_to<Section> pair(std::uint64_t first, std::uint64_t second,
                                      Section const& section, bool good) const {
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    bool by_second = false;
    if constexpr (nests) {
      if (good) by_second = lock_order(owners(a)) < lock_order(owners(b));  // sabotage: lock-order
    }
    partner const other{by_second ? a : b, by_second};
    return {by_second ? second : first, {prefixed<Section>::of(section, other.word())}};
  }
  /// Where a record's lock stands among all locks.
  WARDEN_DEVICE static std::uint64_t lock_order(owner place) {
    return std::uint64_t{Policy::executor::lock_of(place.local)} << 32 | place.server;
  }
  /// What is sent, when it is called.
  template <class Sent>
  WARDEN_DEVICE static called<Sent> with_address(Sent const& sent, return_address to) {
    return {prefixed<Sent>::of(sent, to.bits)};
  }

  /// Counts a bad id, keeps the first one; true if `id` names a record.
  WARDEN_DEVICE bool check(std::uint64_t id) const {
    if (id < size) return true;  // sabotage: bounds
    if (simt::fetch_add(&report->bad_ids, std::uint64_t{1}) == 0) {
      simt::store_relaxed(&report->first_bad_id, id);
    }
    return false;
  }

  /// False, and counted, if a section has sent all that it may: `left` more.
  WARDEN_DEVICE bool check_forwards(unsigned left) const {
    if (left != 0) return true;
    simt::fetch_add(&report->forwards_too_many, std::uint64_t{1});
    return false;
  }

  /// As `check`, for the records of one section: counts a pair with two owners, keeps the first
  /// one.
  WARDEN_DEVICE bool check(std::uint64_t first, std::uint64_t second) const {
    if (!check(first) || !check(second)) return false;
    auto const a = static_cast<std::uint32_t>(first), b = static_cast<std::uint32_t>(second);
    if (nests || owners(a).server == owners(b).server) return true;  // sabotage: apart
    if (simt::fetch_add(&report->apart, std::uint64_t{1}) == 0)
      simt::store_relaxed(&report->first_apart, std::uint64_t{a} << 32 | b);
    return false;
  }

  /// The record of a server's local number, in global memory.
  WARDEN_DEVICE Record* record_of(std::uint32_t server, std::uint32_t local) const {
    return records + owners.id({server, local});
  }
  /// Runs the section that a message carries on `r`: the record, or the copy that its owner holds.
  /// What it answers is left in `to_caller`.
  WARDEN_DEVICE void apply(message_type const& m, Record& r, reply_type& to_caller) const {
    run(m, to_caller, [&](auto const& section) { return section(r, sections_context); });
  }
  /// As above, of one type that a client sends; what the section sends goes by way of `to_send`.
  template <class Sent, class Run>
  WARDEN_DEVICE void apply_one(Sent const& sent, Record& r, reply_type& to_caller,
                               Run& to_send) const {
    run_one(sent, to_caller, [&](auto const& section) {
      using type = std::remove_cvref_t<decltype(section)>;
      if constexpr (forwarding_section_of<type, Record, context>) {
        section_client<Run> next{to_send, forwards_of<type, Record, context>};
        return section(r, sections_context, next);
      } else {
        return section(r, sections_context);
      }
    });
  }
  /// As above, of one type that a client sends. `own` is the record to whose owner it was sent;
  /// `other` is the other one of a pair, and otherwise any.
  template <class Sent>
  WARDEN_DEVICE void apply(Sent const& sent, Record& own, Record& other,
                           reply_type& to_caller) const {
    run_one(sent, to_caller, [&](auto const& section) {
      if constexpr (is_paired<std::remove_cvref_t<decltype(section)>>) {
        // Not by a reference to either: then a record in registers would need an address.
        if (partner_of(section).is_first) return section.section()(other, own, sections_context);
        return section.section()(own, other, sections_context);
      } else {
        return section(own, sections_context);
      }
    });
  }
  /// As above, whatever the message carries.
  WARDEN_DEVICE void apply(message_type const& m, Record& own, Record& other,
                           reply_type& to_caller) const {
    format::visit(m, [&](auto const& sent) { apply(sent, own, other, to_caller); });
  }
  /// Whether the message's section is on two records; if so, the other one's place with the same
  /// owner.
  WARDEN_DEVICE bool second_of(message_type const& m, std::uint32_t& local) const {
    bool pair = false;
    if constexpr (has_pairs) {
      format::visit(m, [&](auto const& sent) {
        if constexpr (is_paired<std::remove_cvref_t<decltype(without_address(sent))>>) {
          pair = true;
          local = owners(partner_of(sent).id).local;
        }
      });
    }
    return pair;
  }
  /// Runs the section that a message carries as one atomic on `r`.
  WARDEN_DEVICE void apply_atomic(message_type const& m, Record* r, reply_type& to_caller) const {
    static_assert((has_atomic<Sections, Record, context> && ...),
                  "warden: a section has no member atomic(Record*, Context) const: it cannot be "
                  "run by the executor atomics");
    run(m, to_caller, [&](auto const& section) {
      using type = std::remove_cvref_t<decltype(section)>;
      using answer = answer_of<type, Record, context>;
      static_assert(
          std::is_void_v<answer> ||
              std::is_same_v<answer,
                             std::remove_cvref_t<decltype(section.atomic(r, sections_context))>>,
          "warden: a section's member atomic returns what its operator() returns");
      return section.atomic(r, sections_context);
    });
  }
  /// Sends the answers of sections to those who called; by the thread that ran them, which has
  /// written their records.
  template <unsigned Count>
  WARDEN_DEVICE void reply(reply_type const (&replies)[Count]) const {
    if constexpr (has_answers) {
      bool any = false;
      WARDEN_UNROLL
      for (unsigned k = 0; k < Count; ++k)
        any = any || replies[k].to.bits != return_address::nowhere;
      if (!any) return;
      // Release: this thread ran the sections; who gets an answer fences after it has seen it.
      if constexpr (fences) simt::fence_device();  // sabotage: answer-release
      WARDEN_UNROLL
      for (unsigned k = 0; k < Count; ++k) {
        if (replies[k].to.bits != return_address::nowhere)
          answers_to.answer(replies[k].to, replies[k].message);
      }
    }
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
  template <class Channel>
  WARDEN_DEVICE void note_fullness(Channel const& c, std::uint64_t released) const {
    if constexpr (policy::statistics) {
      std::uint64_t const used = simt::load_relaxed(&c.indices()->reserved.value) - released;
      simt::fetch_max(&report->totals.fullest_channel, used < c.capacity() ? used : c.capacity());
    }
  }

  /// Waits for `predicate` on behalf of this guarded; false once poisoned.
  template <class Predicate, class Watch>
  WARDEN_DEVICE bool wait_until(Predicate predicate, Watch watch, wait_kind kind,
                                std::uint32_t server, std::uint64_t index) const {
    return frame.wait_until(predicate, watch, kind, position, server, index,
                            !nests && kind == wait_kind::lock);
  }
  /// Publishes a message of this thread, whose earlier writes become visible to whoever reads it
  /// and fences.
  WARDEN_DEVICE void publish(channel const& to, std::uint64_t index,
                             client_message const& m) const {
    // With a bit-mask it is publishing that fences.
    if constexpr (fences && channel::in_band) simt::fence_device();  // sabotage: send-fence
    to.publish(index, m);
  }
  /// Publishes a message in a ring, where it has its index. Never waits: without room in the slots
  /// the launch is poisoned, which sections that send one other at most cannot bring about.
  WARDEN_DEVICE void publish_reserved(std::uint32_t server, std::uint64_t index,
                                      message_type const& m) const {
    ring const to = rings.ring_of(server);
    if constexpr (most_forwards > 1) {
      // A load may return what was released earlier; nothing helps against the latest value.
      if (!to.has_credit(index, to.released()) && !to.has_credit(index, to.latest_released())) {
        frame.poison(wait_kind::room, position, server, to.capacity());
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

 private:
  /// Runs a message's section by `by(section)`.
  template <class By>
  WARDEN_DEVICE static void run(message_type const& m, reply_type& to_caller, By by) {
    format::visit(m, [&](auto const& sent) { run_one(sent, to_caller, by); });
  }
  template <class Sent, class By>
  WARDEN_DEVICE static void run_one(Sent const& sent, reply_type& to_caller, By by) {
    if constexpr (is_called<Sent>) {
      to_caller = {{sent.word()}, answers::pack(by(without_address(sent)))};
    } else {
      static_cast<void>(by(sent));
    }
  }
  template <class Sent>
  WARDEN_DEVICE static auto without_address(Sent const& sent) {
    if constexpr (is_called<Sent>) {
      return sent.section();
    } else {
      return sent;
    }
  }
};

WARDEN_NAMESPACE_END
