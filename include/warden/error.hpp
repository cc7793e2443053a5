// SPDX-License-Identifier: Apache-2.0
/// @file
/// The errors of the host interface. Constructors, launches and `wait` throw them; destructors
/// never do.
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

/// Base of all errors; `what()` has one line for each kind, and ends with the place in Warden's or
/// the caller's code, "(file:line)".
class error : public std::runtime_error {
 public:
  /// An error of one kind, which has no class of its own.
  error(std::string const& message, std::source_location where);
  /// All these kinds; at least one.
  error(std::vector<error_kind> all, std::source_location where);
  /// All kinds, the most severe first.
  [[nodiscard]] std::vector<error_kind> const& all() const noexcept { return all_; }
  /// Path as the compiler saw it.
  [[nodiscard]] char const* file() const noexcept { return where_.file_name(); }
  /// Line in that file.
  [[nodiscard]] unsigned line() const noexcept { return where_.line(); }

 private:
  std::source_location where_;
  std::vector<error_kind> all_;
};

/// A call of the CUDA runtime failed.
class cuda_error : public error {
 public:
  /// `code` is the `cudaError_t`.
  cuda_error(int code, std::string const& message, std::source_location where);
  /// All these kinds.
  cuda_error(int code, std::vector<error_kind> all, std::source_location where);
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
  /// All these kinds.
  limit_error(std::vector<error_kind> all, std::source_location where);
};

/// A communicator is in error, or a rank did not come within the time limit: records of a
/// spread_guarded may be partly updated, and nothing collective goes on.
class communicator_error : public error {
 public:
  /// `message` names the rank that says so, and what it waited for.
  communicator_error(std::string const& message, std::source_location where);
  /// All these kinds.
  communicator_error(std::vector<error_kind> all, std::source_location where);
};

/// Other ranks of a spread_guarded had errors, which their own `wait` tells; this one had none.
class other_rank_error : public error {
 public:
  /// `message` names the ranks.
  other_rank_error(std::string const& message, std::source_location where);
  /// All these kinds.
  other_rank_error(std::vector<error_kind> all, std::source_location where);
};

/// A wait ran out of time without global progress: the launch is poisoned, its records may be
/// partly updated.
class timeout_error : public error {
 public:
  /// The message is `to_string(what)`.
  explicit timeout_error(diagnosis what,
                         std::source_location where = std::source_location::current());
  /// All these kinds; `dump` is that of the first one.
  timeout_error(diagnosis dump, std::vector<error_kind> all, std::source_location where);
  /// Who waited for what, and how far every channel had come.
  [[nodiscard]] diagnosis const& dump() const noexcept { return dump_; }

 private:
  diagnosis dump_;
};

/// Errors that a `wait` has found, to be thrown together as one exception.
class error_list {
 public:
  /// Adds a kind of which there are `count`.
  void add(error_type type, std::string example, std::uint64_t count = 1);
  /// Adds a kind of timeout_error of which there are `count`.
  void add(diagnosis dump, std::uint64_t count = 1);
  /// Adds all kinds that `e` reports.
  void add(error const& e);
  /// True if there are no errors.
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// Throws all kinds, as an exception of the most severe type; an exception that was alone, as it
  /// was; nothing if there are none.
  void throw_all(std::source_location where);

  /// Calls `action`, and adds what it throws.
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
  std::exception_ptr alone_;       ///< what threw all of these, if that was one exception
  int code_ = 0;                   ///< of the first cuda_error
  std::optional<diagnosis> dump_;  ///< of the first timeout_error
};

WARDEN_HOST_NAMESPACE_END
