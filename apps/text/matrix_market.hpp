// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files in the Matrix Market format.
#pragma once

#include "apps/text/line_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace apps {

/// Characters that a comment of this format begins with.
inline constexpr std::string_view matrix_comments = "%";

/// A matrix whose entries a file lists: lines of row and column, from 1 on, and of a value unless
/// the matrix is a pattern.
struct matrix_header {
  bool is_pattern, is_symmetric;
  std::uint64_t rows, columns, entries;
};

/// True for a first line of this format: `%%MatrixMarket ...`, in upper or lower case, or with one
/// percent sign, as networkrepository.com has it.
bool is_matrix_banner(std::string_view line);

/// Reads the header after its first line, `banner`. `accepted` is what may stand there after
/// `matrix coordinate`: kinds of values and symmetries, such as `integer|real general`. The matrix
/// has at most `most` rows and columns. Throws std::runtime_error with the file's name.
matrix_header read_matrix_header(line_reader& lines, std::string_view banner,
                                 std::string const& accepted, std::uint64_t most);

/// Calls `entry(row, column, fields)` for each entry, row and column from 0 on; the value is the
/// next of the `fields`.
template <class Entry>
void for_entries(line_reader& lines, matrix_header const& header, Entry entry) {
  std::uint64_t found = 0;
  std::string_view line;
  for (; lines.next_data(line, matrix_comments); ++found) {
    line_fields fields{line, lines};
    if (found == header.entries) {
      fields.refuse("one more than the " + std::to_string(found) +
                    " entries that the file announces");
    }
    std::uint64_t const row = fields.number("row", 1, header.rows),
                        column = fields.number("column", 1, header.columns);
    entry(static_cast<std::uint32_t>(row - 1), static_cast<std::uint32_t>(column - 1), fields);
    fields.finish();
  }
  check_count(lines, found, header.entries, "entries");
}

}  // namespace apps
