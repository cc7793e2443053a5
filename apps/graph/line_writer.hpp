// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes files of short lines: a letter and numbers, as DIMACS has them.
#pragma once

#include "apps/graph/file.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace graph {

/// A file that is gone unless `commit` is called. Errors are std::runtime_error with its name.
class line_writer {
 public:
  explicit line_writer(std::string const& path) : file_{path} {}
  /// One line: the letter, and each number behind a space.
  void put(char letter, std::initializer_list<std::uint64_t> numbers) {
    text_ += letter;
    for (std::uint64_t const n : numbers) (text_ += ' ') += std::to_string(n);
    text_ += '\n';
    constexpr std::size_t much = 1 << 20;
    if (text_.size() > much) flush();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(text_.data(), text_.size());
    text_.clear();
  }

  output_file file_;
  std::string text_;
};

}  // namespace graph
