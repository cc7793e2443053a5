// SPDX-License-Identifier: Apache-2.0
/// @file
/// Options of `hash_table aggregate`, and the columns of the file that they name.
#pragma once

#include "apps/text/csv_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hash_table {

/// Options of the command. Columns are names in the first row, or numbers from 1 on.
struct aggregate_options {
  std::string file, out = "/dev/stdout";
  std::vector<std::string> keys, reals;
  std::vector<std::string> sums, wide_sums, minima, maxima, means, variances;
  bool counts_rows = false, no_header = false, checks = false;
  std::uint64_t megabytes = 1024;
};

/// Aggregates of a group. `rows` counts rows and has no column.
enum class aggregate { rows, sum, wide_sum, minimum, maximum, mean, variance };

/// Column whose numbers are aggregated.
struct number_column {
  static constexpr std::uint32_t none = 0xffffffff;
  std::size_t field;  ///< index in a row, from 0
  std::string name;
  bool is_real;
  std::uint32_t whole = none;  ///< column of the whole totals, if it has any
  std::uint32_t real = none;   ///< column of the floating-point totals, if it has any
};

/// Column of the output.
struct output_column {
  aggregate what;
  std::size_t numbers;  ///< index in query::numbers; 0 for `rows`
  std::string title;
};

/// Resolved columns of a command.
struct query {
  std::vector<std::size_t> key_fields;
  std::vector<std::string> key_titles;
  std::vector<number_column> numbers;
  std::vector<output_column> outputs;
  std::size_t whole_columns = 0;  ///< with the one that counts rows, which is the last
  std::size_t real_columns = 0;
  bool counts_rows;

  /// Columns of totals.
  [[nodiscard]] std::size_t columns() const { return whole_columns + real_columns; }

  /// Resolves the columns of a file whose first row is `first`. Throws std::runtime_error for
  /// columns that it has not, or has twice.
  query(aggregate_options const& o, std::vector<std::string_view> const& first);
};

/// Numbers in a field, which is not empty. Throw std::runtime_error with the file, the line, the
/// column and the text if it is no number.
std::int64_t whole_in(std::string_view field, number_column const& column,
                      apps::text_place const& at);
double real_in(std::string_view field, number_column const& column, apps::text_place const& at);

/// Rows of the file after the header, and the columns that the command names.
class table_reader {
 public:
  /// Reads the first row. Throws std::runtime_error for an empty file, as csv_reader and as query.
  explicit table_reader(aggregate_options const& o)
      : rows_{o.file}, columns_{o, first_row()}, has_row_{o.no_header} {}

  /// Reads the next row into `fields`. Returns false after the last one. Throws as csv_reader.
  bool next() {
    if (std::exchange(has_row_, false)) return true;
    return rows_.next(fields_);
  }
  [[nodiscard]] std::vector<std::string_view> const& fields() const { return fields_; }
  [[nodiscard]] apps::text_place here() const { return rows_.here(); }
  [[nodiscard]] query const& columns() const { return columns_; }

 private:
  std::vector<std::string_view> const& first_row() {
    if (!rows_.next(fields_)) throw std::runtime_error{rows_.path() + ": the file has no rows"};
    return fields_;
  }

  apps::csv_reader rows_;
  std::vector<std::string_view> fields_;
  query columns_;
  bool has_row_;
};

}  // namespace hash_table
