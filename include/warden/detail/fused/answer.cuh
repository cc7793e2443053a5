// SPDX-License-Identifier: Apache-2.0
/// @file
/// Answer of a call: the section's return value, or the reason why there is none.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Reason why a call has no answer.
enum class call_error : std::uint32_t {
  none,         ///< the call has an answer
  poisoned,     ///< the launch was stopped; `wait` says why
  not_flushed,  ///< the block client has not flushed the call yet; the future stays valid; `wait`
                ///< reports it
  too_many,     ///< nothing was sent: the thread's call `calls_per_thread` calls ago is staged, or
                ///< its future exists; `wait` reports it
  bad_id,       ///< nothing was sent: no such record, or no common owner; `wait` reports it
  not_called,   ///< nothing was sent: `valid` was false, or the future is an empty one
  taken,        ///< an earlier `get` returned the answer
};

/// A value or a call_error, like std::expected. `Value` is trivially copyable.
template <class Value>
class answer {
 public:
  /// Constructs an answer without a value. Precondition: `why` is not `none`.
  WARDEN_DEVICE answer(call_error why) : bytes_{}, error_{why} {}  // NOLINT: as std::unexpected
  /// Constructs an answer with a value.
  WARDEN_DEVICE answer(Value const& value) : value_{value}, error_{call_error::none} {}  // NOLINT

  /// Returns true if there is a value.
  [[nodiscard]] WARDEN_DEVICE bool has_value() const { return error_ == call_error::none; }
  /// Returns true if there is a value.
  WARDEN_DEVICE explicit operator bool() const { return has_value(); }
  /// Returns the value. Precondition: has_value().
  WARDEN_DEVICE Value const& operator*() const { return value_; }
  /// Returns a pointer to the value. Precondition: has_value().
  WARDEN_DEVICE Value const* operator->() const { return &value_; }
  /// Returns the value, or `otherwise`, which may be a host constant.
  [[nodiscard]] WARDEN_DEVICE Value value_or(Value otherwise) const {
    return has_value() ? value_ : otherwise;
  }
  /// Returns the reason why there is no value, or call_error::none.
  [[nodiscard]] WARDEN_DEVICE call_error error() const { return error_; }

 private:
  union {
    unsigned char bytes_[sizeof(Value)];
    Value value_;
  };
  call_error error_;
};

WARDEN_NAMESPACE_END
