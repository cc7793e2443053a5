// SPDX-License-Identifier: Apache-2.0
/// @file
/// Client of a whole block: stages messages in shared memory and sends them in batches.
#pragma once

#include <warden/detail/fused/future.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/thread_client.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// A block's client of one guarded array. Every thread of the block constructs one, at the same
/// place. The first client that exists stages messages. A second client of the same guarded array
/// sends each message alone and at once, as a thread client does; a function constructs one if it
/// was not given the first. All clients send alone if the launch's outboxes do not fit a device
/// with at most 99 KB of shared memory. Messages that are still staged when a client is destroyed
/// without `flush` are lost and counted, and `wait` reports an error.
template <class Ref>
class block_client {
 public:
  /// Constructs a client. `at` is the virtual block that the kernel was called with. Precondition:
  /// `ref` outlives the client.
  WARDEN_DEVICE block_client(Ref const& ref, virtual_block const& at)
      : ref_{ref},
        block_{at},
        outbox_{ref, at.arena() + ref.outbox_offset},
        gathers_{ref.gathers() && at.take_staging(ref.position)} {}
  /// Counts the messages that were staged and never flushed.
  WARDEN_DEVICE ~block_client() {
    if (gathers_) block_.give_staging_back(ref_.position);
    if (unsent_ == 0) return;
    outbox_.lose(unsent_);
    if constexpr (Ref::has_answers) book().lose();
  }
  block_client(block_client const&) = delete;
  block_client& operator=(block_client const&) = delete;

  /// Stages the section for the owner of record `id`, and flushes when the staging is full.
  /// Collective over the block; a thread without a section passes `valid` false. Returns false only
  /// if the launch is poisoned. An id outside the records is counted, not sent, and reported by
  /// `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t id, Section const& section, bool valid = true) {
    stage(id, section, valid && ref_.check(id));
    return go_on();
  }

  /// Sends a section on two records. With the executor locks, both records need the same owner:
  /// other pairs are counted, not sent, and reported by `wait`.
  template <class Section>
  WARDEN_DEVICE bool send(std::uint64_t first, std::uint64_t second, Section const& section,
                          bool valid = true) {
    bool const good = valid && ref_.check(first, second);
    auto const pair = ref_.pair(first, second, section, good);
    stage(pair.id, pair.sent, good);
    return go_on();
  }

  /// Sends a section that answers. The future receives the return value after `flush`; `send` and
  /// `call` flush when the staging is full. Precondition: the thread's call `calls_per_thread`
  /// calls ago was flushed, and its future was consumed or destroyed.
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

  /// Sends one section. Not collective: any thread may call it, in any control flow between
  /// collectives. Stages the section if there is room, otherwise sends it at once as a thread
  /// client does.
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

  /// Sends all staged sections. Collective over the block. If it returns true, all of them are
  /// accepted.
  WARDEN_DEVICE bool flush() {
    if (!gathers_) return agree();
    // After poisoning nothing is sent. All threads of a block agree on that, because flush agrees.
    if (alive_) alive_ = outbox_.flush(staged_);
    if (alive_) {
      if constexpr (Ref::has_answers) {
        if (unsent_ != 0) book().flushed();
      }
      unsent_ = 0;
    }
    staged_ = 0;
    return alive_;
  }

 private:
  using outbox = typename Ref::outbox;

  WARDEN_DEVICE detail::call_book<Ref> book() const { return {ref_, block_}; }

  template <class Section>
  WARDEN_DEVICE void stage(std::uint64_t id, Section const& section, bool valid) {
    if (valid) {
      record_location const to = ref_.owners(static_cast<std::uint32_t>(id));
      auto const message = Ref::client_format::pack(to.local, section);
      if (gathers_) {
        outbox_.stage(staged_, to.server, message);
        ++unsent_;
      } else {
        alive_ = alive_ && send_at_once(ref_, to.server, message);
      }
    } else if (gathers_) {
      outbox_.stage_nothing(staged_);
    }
  }
  /// Stages a call. `section` is what is sent, `valid` is true if the thread wants to call, and
  /// `good` if the call can be sent.
  template <class Section, class Sent>
  WARDEN_DEVICE auto stage_call(std::uint64_t id, Sent const& section, bool valid, bool good) {
    static_assert(!std::is_void_v<answer_of<Section, typename Ref::record, typename Ref::context>>,
                  "warden: the section returns nothing: send it, do not call it");
    typename detail::call_book<Ref>::opened opened{
        valid ? call_error::bad_id : call_error::not_called, 0, {detail::return_address::nowhere}};
    if (good) opened = book().open(/*staged*/ gathers_);
    bool const calls = opened.error == call_error::none;
    stage(id, Ref::with_address(section, opened.to), calls);
    static_cast<void>(go_on());  // the future reports a poisoned launch
    using result = future<Ref, answer_of<Section, typename Ref::record, typename Ref::context>>;
    return calls ? result{book(), opened.number} : result{opened.error};
  }
  WARDEN_COLD static bool send_at_once(Ref const& ref, std::uint32_t server,
                                       typename Ref::client_message const& m) {
    return send_alone(ref, server, m);
  }
  /// Continues with the next message of each thread.
  WARDEN_DEVICE bool go_on() {
    if (!gathers_) return agree();
    return ++staged_ < outbox::per_thread ? alive_ : pass_on();
  }
  /// Agrees on whether the launch is poisoned. Threads that send alone learn it at different times,
  /// but leave together.
  WARDEN_DEVICE bool agree() { return alive_ = !simt::sync_block_or(!alive_); }

  /// Makes room in a full staging.
  WARDEN_DEVICE bool pass_on() {
    if constexpr (outbox::sends_full_buffers) {
      staged_ = 0;
      if (alive_) alive_ = outbox_.send_full();
      return alive_;
    } else {
      return flush();
    }
  }

  Ref const& ref_;
  virtual_block const& block_;
  outbox outbox_;
  bool gathers_;  ///< true if the outbox belongs to this client
  unsigned staged_ = 0;
  unsigned unsent_ = 0;
  bool alive_ = true;
};

WARDEN_NAMESPACE_END
