// SPDX-License-Identifier: Apache-2.0
/// @file
/// The client for a whole block: stages messages in shared memory and sends many at a time.
#pragma once

#include <warden/detail/fused/future.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/thread_client.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A block's client of one guarded array: every thread of the block makes one, at the same place.
/// The first that lives gathers for its guarded array; one that is made while it lives, by a
/// function that was not handed the first, sends each message at once and alone, as a thread client
/// does. So does every client of a launch whose outboxes do not fit a device with at most 99 KB of
/// shared memory. Messages that are staged when a client goes out of scope without `flush` are
/// lost, counted, and an error of `wait`.
template <class Ref>
class block_client {
 public:
  /// `at` is the virtual block that the kernel was called with; `ref` outlives the client.
  WARDEN_DEVICE block_client(Ref const& ref, virtual_block const& at)
      : ref_{ref},
        at_{at},
        outbox_{ref, at.arena() + ref.outbox_offset},
        gathers_{ref.gathers() && at.take_staging(ref.position)} {}
  /// Counts what was staged and never flushed.
  WARDEN_DEVICE ~block_client() {
    if (gathers_) at_.give_staging_back(ref_.position);
    if (unsent_ == 0) return;
    outbox_.lose(unsent_);
    if constexpr (Ref::has_answers) book().lose();
  }
  block_client(block_client const&) = delete;
  block_client& operator=(block_client const&) = delete;

  /// Collective: every thread of the block calls it, with `valid` false where it has nothing to
  /// send. Stages the section for the owner of record `id`, and flushes when the staging is full.
  /// False only once the launch is poisoned. An id outside the records is counted, not sent, and
  /// reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section, bool valid = true) {
    stage(id, section, valid && ref_.check(id));
    return go_on();
  }

  /// Sends a section on two records. With the executor locks they have one owner: pairs
  /// with two are counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section,
                          bool valid = true) {
    bool const good = valid && ref_.check(first, second);
    auto const pair = ref_.pair(first, second, section, good);
    stage(pair.id, pair.sent, good);
    return go_on();
  }

  /// Sends a section that answers: the future brings what it returns, once `flush` has been called
  /// (`send` and `call` flush when the staging is full). Before a thread's call, its call
  /// `calls_per_thread` calls before has been flushed, and that one's future is gone or its answer
  /// taken.
  template <class Section>
  WARDEN_DEVICE auto call(std::uint64_t id, Section const& section, bool valid = true) {
    return stage_call<Section>(id, section, valid, valid && ref_.check(id));
  }
  /// Calls a section on two records.
  template <class Section>
  WARDEN_DEVICE auto call(std::uint64_t first, std::uint64_t second, Section const& section,
                          bool valid = true) {
    bool const good = valid && ref_.check(first, second);
    auto const pair = ref_.pair(first, second, section, good);
    return stage_call<Section>(pair.id, pair.sent, valid, good);
  }

  /// Sends one section. Not collective: any thread, any control flow between collectives. Staged if
  /// there is room for it, otherwise sent at once as a thread client does.
  template <class Section>
  WARDEN_DEVICE bool append(std::uint64_t id, Section const& section) {
    if (!ref_.check(id)) return alive_;
    record_location const to = ref_.owners(static_cast<std::uint32_t>(id));
    auto const message = Ref::client_format::pack(to.local, section);
    if (alive_ && gathers_ && outbox_.append(to.server, message)) {
      ++unsent_;
      return true;
    }
    return alive_ && send_alone(ref_, to.server, message);
  }

  /// Collective: sends everything staged so far. When it returns true all of it is accepted.
  WARDEN_DEVICE bool flush() {
    if (!gathers_) return agree();
    // Once poisoned nothing is sent any more; the threads of a block agree on that, because flush
    // does.
    if (alive_) alive_ = outbox_.flush(round_);
    if (alive_) {
      if constexpr (Ref::has_answers) {
        if (unsent_ != 0) book().flushed();
      }
      unsent_ = 0;
    }
    round_ = 0;
    return alive_;
  }

 private:
  using outbox = typename Ref::outbox;

  WARDEN_DEVICE detail::call_book<Ref> book() const { return {ref_, at_}; }

  template <class Section>
  WARDEN_DEVICE void stage(std::uint64_t id, Section const& section, bool valid) {
    if (valid) {
      record_location const to = ref_.owners(static_cast<std::uint32_t>(id));
      auto const message = Ref::client_format::pack(to.local, section);
      if (gathers_) {
        outbox_.stage(round_, to.server, message);
        ++unsent_;
      } else {
        alive_ = alive_ && send_at_once(ref_, to.server, message);
      }
    } else if (gathers_) {
      outbox_.stage_nothing(round_);
    }
  }
  /// `section` as it is sent, `valid` if the sender wants it, and `good` if it can be.
  template <class Section, class Sent>
  WARDEN_DEVICE auto stage_call(std::uint64_t id, Sent const& section, bool valid, bool good) {
    static_assert(!std::is_void_v<answer_of<Section, typename Ref::record, typename Ref::context>>,
                  "warden: the section returns nothing: send it, do not call it");
    typename detail::call_book<Ref>::opened opened{
        valid ? call_error::bad_id : call_error::not_called, 0, {detail::return_address::nowhere}};
    if (good) opened = book().open(/*staged*/ gathers_);
    bool const calls = opened.error == call_error::none;
    stage(id, Ref::with_address(section, opened.to), calls);
    static_cast<void>(go_on());  // the future says so if the launch is poisoned
    using result = future<Ref, answer_of<Section, typename Ref::record, typename Ref::context>>;
    return calls ? result{book(), opened.number} : result{opened.error};
  }
  WARDEN_COLD static bool send_at_once(Ref const& ref, std::uint32_t server,
                                       typename Ref::client_message const& m) {
    return send_alone(ref, server, m);
  }
  /// To the next round.
  WARDEN_DEVICE bool go_on() {
    if (!gathers_) return agree();
    return ++round_ < outbox::rounds ? alive_ : pass_on();
  }
  /// The threads that send alone learn of a poisoned launch at different times, but leave together.
  WARDEN_DEVICE bool agree() { return alive_ = !simt::sync_block_or(!alive_); }

  /// The staging has no room for another round.
  WARDEN_DEVICE bool pass_on() {
    if constexpr (outbox::sends_full_buffers) {
      round_ = 0;
      if (alive_) alive_ = outbox_.send_full();
      return alive_;
    } else {
      return flush();
    }
  }

  Ref const& ref_;
  virtual_block const& at_;
  outbox outbox_;
  bool gathers_;  ///< the outbox is this client's
  unsigned round_ = 0;
  unsigned unsent_ = 0;
  bool alive_ = true;
};

WARDEN_NAMESPACE_END
