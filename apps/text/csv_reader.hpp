// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows of a file of comma-separated values, read by large chunks.
#pragma once

#include "apps/support/progress.hpp"
#include "apps/text/numbers.hpp"
#include "apps/text/text_file.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// Reads the rows of a file of any size with one chunk of it in memory, and shows the progress on a
/// terminal. Fields are quoted as RFC 4180 says: a field between double quotes may contain commas,
/// line ends, and quotes, each written twice. A line feed ends a row, optionally with a carriage
/// return before it. A blank line is skipped, unless rows have one field: it is then an empty one.
class csv_reader {
 public:
  /// Opens a file. A row has at most `chunk_bytes` bytes. Throws std::runtime_error as `text_file`.
  explicit csv_reader(std::string path, std::size_t chunk_bytes = std::size_t{4} << 20);

  /// Sets `fields` to those of the next row, without quotes, valid until the next call. Returns
  /// false after the last row. Throws std::runtime_error with file and line if reading fails, if
  /// quotes are wrong, for a row longer than a chunk, and for a row that has more or fewer fields
  /// than the first one.
  bool next(std::vector<std::string_view>& fields);

  /// Line in which the row begins that `next` gave last, for errors.
  [[nodiscard]] text_place here() const { return {path(), row_line_}; }
  [[nodiscard]] std::string const& path() const { return file_.path(); }

 private:
  bool refill(std::size_t rest);
  std::size_t row_bytes();
  void split(char* at, char* end, std::vector<std::string_view>& fields) const;

  text_file file_;
  std::vector<char> chunk_;
  char *begin_, *end_;         // rest of the chunk
  std::size_t row_line_ = 0;   // line of the row that was given last
  std::size_t next_line_ = 1;  // line of the next row
  std::size_t columns_ = 0;    // fields of the first row
  progress progress_;
};

}  // namespace apps
