// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers in lines of text, and errors that say where in a file they are.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace apps {

/// Text of a file for an error: of something that is no text at all, the beginning is enough.
inline std::string shown(std::string_view text) {
  std::string beginning{text.substr(0, 40)};
  for (char& c : beginning) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  }
  if (text.size() > 40) beginning += "...";
  return beginning;
}

/// One line of a file, for errors.
struct text_place {
  std::string const& path;
  std::size_t line;  ///< from 1
  /// Throws std::runtime_error: `path:line: what`.
  [[noreturn]] void refuse(std::string const& what) const {
    throw std::runtime_error{path + ":" + std::to_string(line) + ": " + what};
  }
};

/// The whole number that all of `text` is. More than 64 bits are over every limit: the largest
/// number stands for them. Refuses anything else, and negative numbers, by the name `what`.
inline std::uint64_t whole_number(std::string_view text, std::string_view what,
                                  text_place const& at) {
  std::string const name{what};
  if (text.empty()) at.refuse(name + " is missing");
  bool const negative = text[0] == '-';
  std::string_view const digits = text.substr(negative ? 1 : 0);
  std::uint64_t value = 0;
  auto const [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (stop != digits.data() + digits.size() || error == std::errc::invalid_argument)
    at.refuse(name + " \"" + shown(text) + "\" is not a whole number");
  if (negative) at.refuse(name + " " + shown(text) + " is negative");
  return error == std::errc::result_out_of_range ? ~std::uint64_t{0} : value;
}

}  // namespace apps
