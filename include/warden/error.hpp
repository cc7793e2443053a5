// SPDX-License-Identifier: Apache-2.0
/// @file
/// The errors of the host interface. Constructors, launches and `wait` throw them; destructors
/// never do.
#pragma once

#include <warden/diagnosis.hpp>
#include <warden/simt/host_abi.hpp>

#include <source_location>
#include <stdexcept>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

/// Base of all errors; `what()` ends with the place in Warden's or the caller's code,
/// "(file:line)".
class error : public std::runtime_error {
 public:
  /// `what()` is the message and the base name and line of `where`.
  error(std::string const& message, std::source_location where);
  /// Path as the compiler saw it.
  [[nodiscard]] char const* file() const noexcept { return where_.file_name(); }
  /// Line in that file.
  [[nodiscard]] unsigned line() const noexcept { return where_.line(); }

 private:
  std::source_location where_;
};

/// A call of the CUDA runtime failed.
class cuda_error : public error {
 public:
  /// `code` is the `cudaError_t`.
  cuda_error(int code, std::string const& message, std::source_location where);
  /// The `cudaError_t` as a number.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A value is outside its limit: the message names both.
class limit_error : public error {
 public:
  /// `message` names the value and its limit.
  explicit limit_error(std::string const& message,
                       std::source_location where = std::source_location::current());
};

/// A communicator is in error, or a rank did not come within the time limit: records of a
/// spread_guarded may be partly updated, and nothing collective goes on.
class communicator_error : public error {
 public:
  /// `message` names the rank that says so, and what it waited for.
  communicator_error(std::string const& message, std::source_location where);
};

/// Other ranks of a spread_guarded had errors, which their own `wait` tells; this one had none.
class other_rank_error : public error {
 public:
  /// `message` names the ranks.
  other_rank_error(std::string const& message, std::source_location where);
};

/// A wait ran out of time without global progress: the launch is poisoned, its records may be
/// partly updated.
class timeout_error : public error {
 public:
  /// The message is `to_string(what)`.
  explicit timeout_error(diagnosis what,
                         std::source_location where = std::source_location::current());
  /// Who waited for what, and how far every channel had come.
  [[nodiscard]] diagnosis const& dump() const noexcept { return dump_; }

 private:
  diagnosis dump_;
};

WARDEN_HOST_NAMESPACE_END
