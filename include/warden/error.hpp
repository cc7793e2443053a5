// SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors of the host interface. Constructors, launches and `wait` throw them. Destructors never
/// throw.
#pragma once

#include <warden/diagnosis.hpp>
#include <warden/simt/host_abi.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

/// Types of errors, the most severe first.
enum class error_type : unsigned char {
  device,        ///< cuda_error, or an error of no class below
  communicator,  ///< communicator_error
  timeout,       ///< timeout_error
  limit,         ///< limit_error
  other_rank,    ///< other_rank_error
};

/// One kind of error, as an exception reports it.
struct error_kind {
  error_type type;      ///< type of an exception that reports this kind alone
  std::uint64_t count;  ///< number of such errors; 1 if they are not counted
  std::string example;  ///< the first one: what is wrong, the value, the limit, the remedy
};

/// Base class of all errors. `what()` has one line for each kind, and ends with the place in
/// Warden's or the caller's code, "(file:line)".
class error : public std::runtime_error {
 public:
  /// Makes an error of one kind that has no class of its own.
  error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds. Precondition: `all` is not empty.
  error(std::vector<error_kind> all, std::source_location where);
  /// Returns all kinds, the most severe first.
  [[nodiscard]] std::vector<error_kind> const& all() const noexcept { return all_; }
  /// Returns the path of the source file, as the compiler saw it.
  [[nodiscard]] char const* file() const noexcept { return where_.file_name(); }
  /// Returns the line in that file.
  [[nodiscard]] unsigned line() const noexcept { return where_.line(); }

 private:
  std::source_location where_;
  std::vector<error_kind> all_;
};

/// A call of the CUDA runtime failed.
class cuda_error : public error {
 public:
  /// Makes an error of one kind. `code` is the `cudaError_t`.
  cuda_error(int code, std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  cuda_error(int code, std::vector<error_kind> all, std::source_location where);
  /// Returns the `cudaError_t` as a number.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A value is outside its limit. The message names both.
class limit_error : public error {
 public:
  /// Makes an error of one kind. `message` names the value and its limit.
  explicit limit_error(std::string const& message,
                       std::source_location where = std::source_location::current());
  /// Makes an error of several kinds.
  limit_error(std::vector<error_kind> all, std::source_location where);
};

/// A communicator is in error, or a rank did not come within the time limit. Records of a
/// spread_guarded may be partly updated, and collective calls no longer work.
class communicator_error : public error {
 public:
  /// Makes an error of one kind. `message` names the rank that reports it, and what that rank
  /// waited for.
  communicator_error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  communicator_error(std::vector<error_kind> all, std::source_location where);
};

/// Other ranks of a spread_guarded had errors, which their own `wait` reports. This rank had none.
class other_rank_error : public error {
 public:
  /// Makes an error of one kind. `message` names the ranks.
  other_rank_error(std::string const& message, std::source_location where);
  /// Makes an error of several kinds.
  other_rank_error(std::vector<error_kind> all, std::source_location where);
};

/// A wait ran out of time without global progress. The launch is poisoned; its records may be
/// partly updated.
class timeout_error : public error {
 public:
  /// Makes an error of one kind, with the message `to_string(what)`.
  explicit timeout_error(diagnosis what,
                         std::source_location where = std::source_location::current());
  /// Makes an error of several kinds. `dump` is that of the first one.
  timeout_error(diagnosis dump, std::vector<error_kind> all, std::source_location where);
  /// Returns the dump: which thread waited for what, and the state of every channel.
  [[nodiscard]] diagnosis const& dump() const noexcept { return dump_; }

 private:
  diagnosis dump_;
};

/// Errors that a `wait` has found, to throw together as one exception.
class error_list {
 public:
  /// Adds a kind of error that occurred `count` times.
  void add(error_type type, std::string example, std::uint64_t count = 1);
  /// Adds a kind of timeout_error that occurred `count` times.
  void add(diagnosis dump, std::uint64_t count = 1);
  /// Adds all kinds that `e` reports.
  void add(error const& e);
  /// True if there are no errors.
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Throws all kinds, as an exception of the most severe type. Rethrows an exception that is
  /// alone, unchanged. Returns if there are no errors.
  void throw_all(std::source_location where);

  /// Calls `action`, and adds the error that it throws.
  template <class Action>
  void collect(Action const& action) {
    try {
      action();
    } catch (error const& e) {
      bool const is_alone = empty();
      add(e);
      if (is_alone) alone_ = std::current_exception();
    }
  }

 private:
  std::vector<error_kind> all_;
  std::exception_ptr alone_;       ///< the exception that reported all of these, if it was one
  int code_ = 0;                   ///< code of the first cuda_error
  std::optional<diagnosis> dump_;  ///< dump of the first timeout_error
};

WARDEN_HOST_NAMESPACE_END
