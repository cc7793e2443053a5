// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers in lines of text, and errors with their place in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace apps {

/// Returns text of a file for an error; only the beginning of a long text.
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
  std::size_t line;  ///< from 1; 0 for a file without lines
  /// Throws std::runtime_error: `path:line: what`.
  [[noreturn]] void refuse(std::string const& what) const {
    throw std::runtime_error{path + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + what};
  }
};

/// Limits of a whole number, and the text of an error about them after the numbers.
struct number_limits {
  std::uint64_t least, most;
  std::string_view remark = "";
};

/// Returns the whole number that all of `text` is. Refuses everything else by the name `what`.
std::uint64_t whole_number(std::string_view text, std::string_view what,
                           number_limits const& limits, text_place const& at);
/// Returns the number that all of `text` is; infinity, or 0, if it is too large, or too small, for
/// a double. Refuses everything else by the name `what`.
double real_number(std::string_view text, std::string_view what, text_place const& at);

}  // namespace apps
