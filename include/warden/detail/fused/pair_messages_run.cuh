// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a server runs sections on two records with two owners, after [Wang 2020, section 4.4].
///
/// A section goes first to the owner of the record with the greater lock. When that lock is free,
/// the owner takes it and sends the section, with the record's value, to the owner of the other
/// record. That owner runs the section as soon as the other record is not locked, and sends the
/// value back, which unlocks the first record. So a section that waits for a lock waits for a
/// smaller lock than it holds. The smallest lock is held only while a section runs, and no thread
/// waits for a lock.
#pragma once

#include <warden/detail/block/arena_carver.cuh>
#include <warden/detail/block/slot_free_list.cuh>
#include <warden/detail/execute/record_store.cuh>
#include <warden/detail/execute/section_runner.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/lock_queues.cuh>
#include <warden/detail/fused/pair_times.cuh>

#include <cstddef>
#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Runs the messages of one server, including sections on two records. One thread at a time handles
/// a lock.
template <class Ref>
class pair_messages_run {
 public:
  /// Message with room for the largest section.
  using message_type = typename Ref::message_type;
  /// Type of one protected item.
  using record = typename Ref::record;

  /// Shared memory that a server needs for `locals` records.
  struct layout {
    /// Adds the memory after all that the carver has taken.
    WARDEN_HOST_DEVICE constexpr layout(arena_carver& carver, std::size_t locals)
        : places{carver.take<place_counts>(1)},
          queues{carver.take<lock_queue>(locks_for(locals))} {}
    arena_piece<place_counts> places;  ///< counts of the free list
    arena_piece<lock_queue> queues;    ///< one for each lock
  };

  /// Constructs the runner of server `number`. `storage` is the block's shared memory.
  WARDEN_DEVICE pair_messages_run(Ref const& ref, std::uint32_t number, layout const& at,
                                  std::byte* storage)
      : ref_{ref},
        number_{number},
        places_{ref.waiting.places, number, at.places.in(storage)},
        locks_{ref.waiting, number, at.queues.in(storage)} {}

  /// Initializes the shared memory. Collective over the block; a block barrier follows.
  WARDEN_DEVICE void start() const {
    locks_.start();
    if (simt::thread_rank() == 0) places_.start();
  }
  /// Gives back this thread's place and adds its times to the statistics. Collective over the
  /// block.
  WARDEN_DEVICE void finish() const {
    if (place_ != slot_free_list::none) places_.give(place_);  // mutation: place-kept
    simt::sync_block();
    if (simt::thread_rank() == 0) places_.finish();
    times_.add_to(ref_.report->totals);
  }

  /// Reserves a place for each lane, in which it can store its next waiting message. Collective
  /// over a warp.
  WARDEN_DEVICE void prepare() { places_.take(place_ == slot_free_list::none, place_); }

  /// Runs one step of a message, which sends at most one message by `out`. Runs the message or
  /// stores it as waiting. If the lane `resumes`, runs the next message that waited for the lock
  /// instead. Returns true if another message waits, which the caller must run. Adds to `left` the
  /// number of messages that are finished: those that ran, or freed a lock, now.
  template <class Out>
  WARDEN_DEVICE bool run(std::uint32_t lock, message_type& m, bool resumes, unsigned& left,
                         record_store<Ref> const& records, Out& out) {
    bool const is_locked = resumes || locks_.is_locked(lock);
    if (is_locked) {
      if (!resumes) {
        if (!unlocks(m, records)) {
          set_aside(lock, m);  // mutation: handler-waits
          return false;
        }
        ++left;
        if (locks_.free_if_none_waits(lock)) return false;
      }
      pop(lock, m);
    }
    ++left;
    bool const takes = run_unlocked(m, records, out);
    return is_locked && !takes && !locks_.free_if_none_waits(lock);  // mutation: pair-more
  }

  /// Notes, for statistics, that a message was received.
  WARDEN_DEVICE void count_arrival(message_type const& m) {
    if constexpr (Ref::policy::statistics) {
      Ref::format::visit(m, [&](auto const& sent) {
        using type = std::remove_cvref_t<decltype(sent)>;
        if constexpr (is_locked<type>) {
          times_.came_to_other();
        } else if constexpr (is_unlock<type>) {
          times_.came_back();
        } else if constexpr (requires { partner_of(sent); }) {
          times_.came();
        }
      });
    }
  }

 private:
  WARDEN_HOST_DEVICE static constexpr std::size_t locks_for(std::size_t locals) {
    return locals < Ref::executor::lock_count ? locals : Ref::executor::lock_count;
  }

  /// Returns true if the message frees the lock. Then it has stored the record's new value.
  WARDEN_DEVICE static bool unlocks(message_type const& m, record_store<Ref> const& records) {
    bool result = false;
    Ref::format::visit(m, [&](auto const& sent) {
      if constexpr (is_unlock<std::remove_cvref_t<decltype(sent)>>) {
        *records.at(m.local()) = sent.value();
        result = true;
      }
    });
    return result;
  }
  /// Stores a waiting message. A section that holds another lock already goes to the front.
  WARDEN_DEVICE void set_aside(std::uint32_t lock, message_type const& m) {
    bool resumes = false;
    Ref::format::visit(
        m, [&](auto const& sent) { resumes = is_locked<std::remove_cvref_t<decltype(sent)>>; });
    locks_.push(lock, m, resumes, place_);
    place_ = slot_free_list::none;  // mutation: place-twice
  }
  /// Removes the first message that waits for a taken lock.
  WARDEN_DEVICE void pop(std::uint32_t lock, message_type& next) {
    std::uint32_t const place = locks_.pop(lock, next);
    if (place_ == slot_free_list::none) {
      place_ = place;
    } else {
      places_.give(place);
    }
  }
  /// Runs a message whose lock is free. Returns true if its section travels with the lock now.
  template <class Out>
  WARDEN_DEVICE bool run_unlocked(message_type const& m, record_store<Ref> const& records,
                                  Out& out) {
    bool takes = false;
    Ref::format::visit(m, [&](auto const& sent) {
      using type = std::remove_cvref_t<decltype(sent)>;
      if constexpr (is_locked<type>) {
        run_here(sent, m.local(), records, out);
      } else if constexpr (requires { partner_of(sent); }) {
        takes = begin(sent, m.local(), records, out);
      } else if constexpr (!is_unlock<type>) {
        run_alone(sent, m.local(), records, out);
      }
    });
    return takes;
  }

  /// Runs a section on one record.
  template <class Sent, class Out>
  WARDEN_DEVICE void run_alone(Sent const& sent, std::uint32_t local,
                               record_store<Ref> const& records, Out& out) const {
    record* const r = records.at(local);
    typename Ref::reply_type reply[1];
    simt::section_enter(records.address_of(local));
    section_runner{ref_}.apply_one(sent, *r, records.id_of(local), reply[0], out);
    simt::section_leave(records.address_of(local));
    section_runner{ref_}.reply(reply);
  }

  /// Begins a section on two records at its first lock. Returns true if the section travels with
  /// that lock.
  template <class Sent, class Out>
  WARDEN_DEVICE bool begin(Sent const& sent, std::uint32_t local, record_store<Ref> const& records,
                           Out& out) {
    partner const other = partner_of(sent);
    record_location const to = ref_.owners(other.id);
    std::uint32_t const lock = Ref::executor::lock_of(local);
    if (to.server == number_ && Ref::executor::lock_of(to.local) == lock) {
      // One record, or two with the same lock.
      typename Ref::reply_type reply[1];
      enter(records.address_of(local), records.address_of(to.local), true);
      section_runner{ref_}.apply(sent, *records.at(local), records.id_of(local),
                                 *records.at(to.local), reply[0]);
      leave(records.address_of(local), records.address_of(to.local), true);
      section_runner{ref_}.reply(reply);
      times_.ran_at_once();
      return false;
    }
    times_.left();
    locks_.take(lock);
    Sent passed = sent;
    set_partner(passed,
                {ref_.owners.id({number_, local}), !other.is_first});  // mutation: pair-turned
    out.put(to, locked<Sent, record>::of(passed, *records.at(local)));
    return true;
  }

  /// Runs a section that has its other record locked.
  template <class Sent, class Out>
  WARDEN_DEVICE void run_here(locked<Sent, record> const& section, std::uint32_t local,
                              record_store<Ref> const& records, Out& out) {
    partner const other = partner_of(section.sent);
    record value = section.value();
    typename Ref::reply_type reply[1];
    record* const identity = ref_.records + other.id;
    enter(records.address_of(local), identity, Ref::fences);
    section_runner{ref_}.apply(section.sent, *records.at(local), records.id_of(local), value,
                               reply[0]);
    leave(records.address_of(local), identity, Ref::fences);
    times_.ran();
    out.put(ref_.owners(other.id), unlock<record>::of(value));  // mutation: unlock
    section_runner{ref_}.reply(reply);
  }

  /// Enters a section on two records. `in_order`: writes of earlier sections on `b` are visible to
  /// this one, and its writes to later ones. Without fences, the message carries the record's value
  /// alone.
  WARDEN_DEVICE static void enter(record const* a, record const* b, bool in_order) {
    simt::section_enter(a);
    if (a != b) simt::section_enter(b, in_order);
  }
  WARDEN_DEVICE static void leave(record const* a, record const* b, bool in_order) {
    if (a != b) simt::section_leave(b, in_order);
    simt::section_leave(a);
  }

  Ref const& ref_;
  std::uint32_t number_;
  slot_free_list places_;
  lock_queues<message_type> locks_;
  /// Place for this thread's next waiting message.
  std::uint32_t place_ = slot_free_list::none;
  pair_times<Ref::policy::statistics> times_;
};

}  // namespace detail
WARDEN_NAMESPACE_END
