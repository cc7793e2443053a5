// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of text. All readers open them here.
#pragma once

#include "apps/text/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace apps {

/// Line ends of a text as `text_file` returns them.
enum class line_ends {
  /// A carriage return without a line feed after it is replaced by a line feed.
  unified,
  /// As they are in the file.
  kept,
};

/// Open file of text. A byte order mark is skipped. Errors are std::runtime_error with the file's
/// name.
class text_file {
 public:
  /// Opens a file. Refuses a compressed file.
  explicit text_file(std::string path, line_ends ends = line_ends::unified);

  /// Reads up to `bytes` bytes, at least 1. Returns the number of bytes in `to`, 0 only at the end.
  std::size_t read(char* to, std::size_t bytes);
  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// Size of the file in bytes; 0 if it is unknown, as for a pipe.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Bytes of the file that `read` has read.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  std::size_t unify_line_ends(char* text, std::size_t bytes);

  input_file file_;
  line_ends ends_;
  std::uint64_t bytes_, bytes_read_ = 0;
  std::string beginning_;      // read by the constructor, not yet by `read`
  bool after_return_ = false;  // a carriage return was the last byte read
};

}  // namespace apps
