// SPDX-License-Identifier: Apache-2.0
/// @file
/// The caller's side of an answer: the book that a client thread keeps of its calls, and the future
/// of one of them.
#pragma once

#include <warden/detail/fused/answer.cuh>
#include <warden/detail/fused/answer_slots.cuh>
#include <warden/detail/fused/guarded_ref.cuh>
#include <warden/detail/fused/virtual_block.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// One client thread's calls; holds nothing but where the thread's state is.
template <class Ref>
class call_book {
 public:
  /// Nobody's.
  call_book() = default;
  /// For the calling thread of virtual block `at`; `ref` outlives it.
  WARDEN_DEVICE call_book(Ref const& ref, virtual_block const& at)
      : ref_{&ref}, thread_{at.client_number() * simt::block_threads() + simt::thread_rank()} {}

  /// Where a call's answer goes, if there may be one more.
  struct opened {
    call_error error;      ///< none: the call may be sent
    std::uint32_t number;  ///< of the call
    return_address to;     ///< of its answer
  };

  /// Opens a call, which is `staged` or sent at once. Waits for the answer to an earlier call that
  /// used the slot and whose future is gone.
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
  /// All that the thread had staged was sent.
  WARDEN_DEVICE void flushed() const { state().staged &= ~state().pending; }
  /// What the thread has staged will not be flushed: some of it may have been sent, so the places
  /// of these calls stay taken until `wait` has reported them.
  WARDEN_DEVICE void lose() const {
    std::uint32_t const lost = state().staged & state().pending;
    if (lost == 0) return;
    state().pending &= ~lost;
    simt::fetch_add(&ref_->report->unflushed_calls,
                    static_cast<std::uint64_t>(simt::count_bits(lost)));
  }
  /// The call's future is gone.
  WARDEN_DEVICE void close(std::uint32_t number) const { state().open &= ~bit_of(number); }

  /// Waits for the answer.
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
    // Acquire: the server's thread fenced between what the section wrote and the answer.
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
  /// False once poisoned.
  WARDEN_DEVICE bool wait_for(std::uint32_t number, message_type& m) const {
    return_address const from = address_of(number);
    return ref_->wait_until([&] { return ref_->answers_to.receive(from, m); },
                            [&](auto watch) { ref_->answers_to.watch(from, watch); },
                            wait_kind::answer, 0, number);
  }

  Ref const* ref_ = nullptr;
  std::uint32_t thread_ = 0;  ///< among the client threads of the launch
};

}  // namespace detail

/// The answer of one call, some time. It belongs to the thread that called, which may drop it.
/// Lives no longer than the virtual block, and than the ref that its client was made of.
template <class Ref, class Value>
class [[nodiscard]] future {
 public:
  /// A future of no call: `get` says not_called.
  WARDEN_DEVICE future() : number_{0}, error_{call_error::not_called} {}
  /// For clients: the future of a call that was sent or staged.
  WARDEN_DEVICE future(detail::call_book<Ref> const& book, std::uint32_t number)
      : book_{book}, number_{number}, error_{call_error::none} {}
  /// For clients: the future of a call that was not sent.
  WARDEN_DEVICE explicit future(call_error why) : number_{0}, error_{why} {}
  /// What was moved from is empty.
  WARDEN_DEVICE future(future&& other) noexcept
      : book_{other.book_}, number_{other.number_}, error_{other.error_} {
    other.error_ = call_error::not_called;
  }
  /// The call whose future this was goes unheard. Returns nothing: nvcc takes a reference to a
  /// nodiscard type for a value that was ignored.
  WARDEN_DEVICE void operator=(future&& other) noexcept {
    if (this != &other) {
      drop();  // mutation: answer-dropped
      book_ = other.book_;
      number_ = other.number_;
      error_ = other.error_;
      other.error_ = call_error::not_called;
    }
  }
  /// The section runs whether anybody waits for its answer or not.
  WARDEN_DEVICE ~future() { drop(); }

  /// Waits politely for the answer, and returns it, once. At once, with an error, where there will
  /// be none, and where the call is still staged by a block client: then again after `flush`. With
  /// it the thread sees what the section wrote.
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
