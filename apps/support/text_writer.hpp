// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes text to an output file in large pieces.
#pragma once

#include "apps/support/output_file.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace apps {

/// Writer of text to a file. Throws as `output_file`.
class text_writer {
 public:
  explicit text_writer(output_file& to) : file_{to} {}

  text_writer& operator<<(std::string_view text) {
    waiting_.append(text);
    return *this;
  }
  text_writer& operator<<(char letter) { return *this << std::string_view{&letter, 1}; }
  /// Writes a number in decimal digits; a floating-point number in the shortest digits that are
  /// read as the same number.
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> text_writer& operator<<(Number n) {
    std::array<char, 32> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr;
    return *this << std::string_view{digits.data(), end};
  }
  /// Writes a line of these fields, separated by spaces.
  template <class... Fields>
  void line(char first, Fields... fields) {
    *this << first;
    ((*this << ' ' << fields), ...);
    end_line();
  }
  void end_line() {
    constexpr std::size_t enough = std::size_t{1} << 20;
    waiting_.push_back('\n');
    if (waiting_.size() >= enough) flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(waiting_.data(), waiting_.size());
    waiting_.clear();
  }

  output_file& file_;
  std::string waiting_;
};

}  // namespace apps
