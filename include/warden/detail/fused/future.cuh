// SPDX-License-Identifier: Apache-2.0
/// @file
/// The caller's side of an answer: the book of a client thread's calls, and the future of one call.
#pragma once

#include <warden/detail/fused/answer.cuh>
#include <warden/detail/fused/answer_slots.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Calls of one client thread. Holds only references to the thread's state.
template <class Ref>
class call_book {
 public:
  /// Constructs a book of no thread.
  call_book() = default;
  /// Constructs the book of the calling thread of virtual block `at`. Precondition: `ref` outlives
  /// the book.
  WARDEN_DEVICE call_book(Ref const& ref, virtual_block const& at)
      : ref_{&ref}, thread_{at.client_number() * simt::block_threads() + simt::thread_rank()} {}

  /// Result of opening a call.
  struct opened {
    call_error error;      ///< none: the call may be sent
    std::uint32_t number;  ///< number of the call
    return_address to;     ///< address for the answer
  };

  /// Opens a call, which is `staged` or sent at once. Waits for the answer to an earlier call that
  /// used the same slot and has no future any more.
  WARDEN_DEVICE opened open(bool staged) const {
    call_state s = state();
    std::uint32_t const bit = bit_of(s.next);
    if (((s.open | s.staged) & bit) != 0) {
      simt::fetch_add(&ref_->report->calls_too_many, std::uint64_t{1});
      return {call_error::too_many, 0, {return_address::nowhere}};
    }
    if ((s.pending & bit) != 0) {  // mutation: answer-reuse
      message_type m;
      if (!wait_for(s.next - calls, m)) return {call_error::poisoned, 0, {return_address::nowhere}};
    }
    std::uint32_t const number = s.next++;
    s.open |= bit;
    s.pending |= bit;
    if (staged) s.staged |= bit;
    state() = s;
    return {call_error::none, number, address_of(number)};
  }
  /// Notes that all calls that the thread had staged were sent.
  WARDEN_DEVICE void flushed() const { state().staged &= ~state().pending; }
  /// Notes that the thread's staged calls will not be flushed. Some of them may have been sent, so
  /// their slots stay taken until `wait` has reported them.
  WARDEN_DEVICE void lose() const {
    std::uint32_t const lost = state().staged & state().pending;
    if (lost == 0) return;
    state().pending &= ~lost;
    simt::fetch_add(&ref_->report->unflushed_calls,
                    static_cast<std::uint64_t>(simt::count_bits(lost)));
  }
  /// Notes that the call's future is gone.
  WARDEN_DEVICE void close(std::uint32_t number) const { state().open &= ~bit_of(number); }

  /// Waits for the answer and returns it.
  template <class Value>
  WARDEN_DEVICE answer<Value> get(std::uint32_t number) const {
    if ((state().staged & bit_of(number)) != 0) {
      if (ref_->launch.poisoned()) return call_error::poisoned;
      simt::fetch_add(&ref_->report->early_gets, std::uint64_t{1});
      return call_error::not_flushed;
    }
    message_type m;
    if (!wait_for(number, m)) return call_error::poisoned;
    state().pending &= ~bit_of(number);
    // Acquire: the server's thread fenced between the section's writes and the answer.
    if constexpr (Ref::fences) simt::fence_device();  // mutation: answer-acquire
    return Ref::answers::template unpack<Value>(m);
  }

 private:
  static constexpr unsigned calls = Ref::slots_of_answers::calls;
  using message_type = typename Ref::slots_of_answers::message_type;

  WARDEN_DEVICE call_state& state() const { return ref_->answers_to.states[thread_]; }
  WARDEN_DEVICE static std::uint32_t bit_of(std::uint32_t number) { return 1u << number % calls; }
  WARDEN_DEVICE return_address address_of(std::uint32_t number) const {
    return return_address::of(thread_ * calls + number % calls, number / calls);
  }
  /// Waits for an answer. Returns false if the launch is poisoned.
  WARDEN_DEVICE bool wait_for(std::uint32_t number, message_type& m) const {
    return_address const from = address_of(number);
    return ref_->wait_until([&] { return ref_->answers_to.receive(from, m); },
                            [&](auto watch) { ref_->answers_to.watch(from, watch); },
                            wait_kind::answer, 0, number);
  }

  Ref const* ref_ = nullptr;
  std::uint32_t thread_ = 0;  ///< number among the client threads of the launch
};

}  // namespace detail

/// Future answer of one call. It belongs to the thread that called, which may destroy it. Lives at
/// most as long as the virtual block and the ref that its client was made of.
template <class Ref, class Value>
class [[nodiscard]] future {
 public:
  /// Constructs a future of no call: `get` returns not_called.
  WARDEN_DEVICE future() : number_{0}, error_{call_error::not_called} {}
  /// Constructs the future of a call that was sent or staged. For clients.
  WARDEN_DEVICE future(detail::call_book<Ref> const& book, std::uint32_t number)
      : book_{book}, number_{number}, error_{call_error::none} {}
  /// Constructs the future of a call that was not sent. For clients.
  WARDEN_DEVICE explicit future(call_error why) : number_{0}, error_{why} {}
  /// Moves the call; `other` has none afterwards.
  WARDEN_DEVICE future(future&& other) noexcept
      : book_{other.book_}, number_{other.number_}, error_{other.error_} {
    other.error_ = call_error::not_called;
  }
  /// Drops this future's call and takes the other's. Returns nothing, because nvcc reports a
  /// returned reference to a nodiscard type as an ignored value.
  WARDEN_DEVICE void operator=(future&& other) noexcept {
    if (this != &other) {
      drop();  // mutation: answer-dropped
      book_ = other.book_;
      number_ = other.number_;
      error_ = other.error_;
      other.error_ = call_error::not_called;
    }
  }
  /// Drops the call. Its section runs even if no thread waits for the answer.
  WARDEN_DEVICE ~future() { drop(); }

  /// Waits politely for the answer and returns it once. After it the thread sees the section's
  /// writes. Returns an error at once if there will be no answer, or if a block client still stages
  /// the call; then call it again after `flush`.
  WARDEN_DEVICE answer<Value> get() {
    if (error_ != call_error::none) return error_;
    auto const result = book_.template get<Value>(number_);
    if (result.error() != call_error::not_flushed) {
      book_.close(number_);
      error_ = result ? call_error::taken : result.error();
    }
    return result;
  }

 private:
  WARDEN_DEVICE void drop() {
    if (error_ == call_error::none) book_.close(number_);
  }

  detail::call_book<Ref> book_;
  std::uint32_t number_;
  call_error error_;  ///< none: the call's answer was not taken yet
};

WARDEN_NAMESPACE_END
