// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a call brings back: the section's return value, or why there is none.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Why a call has no answer.
enum class call_error : std::uint32_t {
  none,         ///< it has one
  poisoned,     ///< the launch was stopped; `wait` says why
  not_flushed,  ///< its block client has not flushed since; the future stays good; `wait` reports
                ///< it
  too_many,     ///< nothing was sent: the thread's call `calls_per_thread` calls before is staged
                ///< or its future held; `wait` reports it
  bad_id,       ///< nothing was sent: no such record, or no owner of both; `wait` reports it
  not_called,   ///< nothing was sent: `valid` was false, or the future is an empty one
  taken,        ///< `get` has returned the answer before
};

/// A value or a call_error, as std::expected. The value is trivially copyable.
template <class Value>
class answer {
 public:
  /// There is none, for that reason, which is not `none`.
  WARDEN_DEVICE answer(call_error why) : bytes_{}, error_{why} {}  // NOLINT: as std::unexpected
  /// There is one.
  WARDEN_DEVICE answer(Value const& value) : value_{value}, error_{call_error::none} {}  // NOLINT

  /// Whether there is one.
  [[nodiscard]] WARDEN_DEVICE bool has_value() const { return error_ == call_error::none; }
  /// Whether there is one.
  WARDEN_DEVICE explicit operator bool() const { return has_value(); }
  /// Only if there is one.
  WARDEN_DEVICE Value const& operator*() const { return value_; }
  /// Only if there is one.
  WARDEN_DEVICE Value const* operator->() const { return &value_; }
  /// The value, or `otherwise`, which may be a constant of the host's.
  [[nodiscard]] WARDEN_DEVICE Value value_or(Value otherwise) const {
    return has_value() ? value_ : otherwise;
  }
  /// Why there is none; call_error::none if there is one.
  [[nodiscard]] WARDEN_DEVICE call_error error() const { return error_; }

 private:
  union {
    unsigned char bytes_[sizeof(Value)];
    Value value_;
  };
  call_error error_;
};

WARDEN_NAMESPACE_END
