// SPDX-License-Identifier: Apache-2.0
/// @file
/// Aggregates of all groups, on the host.
#pragma once

#include "apps/hash_table/aggregate/group_keys.hpp"
#include "apps/hash_table/aggregate/query.hpp"
#include "apps/hash_table/aggregate/totals.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hash_table {

__extension__ using int128 = __int128;
/// Number of an output column; nothing if it has none.
using aggregated = std::variant<std::monostate, int128, double>;

/// Returns a number in decimal digits, a floating-point number in the shortest digits that are read
/// as the same number, or an empty text for no number.
std::string to_text(aggregated const& number);

/// Groups and their totals.
struct groups {
  /// Reads all rows and aggregates them on the device, in pieces. Throws std::runtime_error if a
  /// field is no number, and if the groups need more than the option's memory.
  groups(table_reader& from, aggregate_options const& o);

  group_keys keys;
  std::uint64_t rows = 0;
  std::size_t device_bytes = 0;  ///< device memory, which only grows
  std::vector<whole_totals> whole;
  std::vector<real_totals> real;

  /// Returns the number of an output column of a group.
  [[nodiscard]] aggregated value(query const& q, output_column const& column,
                                 std::uint32_t group) const;
  /// Returns the key as text for messages: `a=1, b=NULL`.
  [[nodiscard]] std::string name(query const& q, std::string_view key) const;
};

/// Throws std::runtime_error with the group if a sum does not fit 64 bits.
void check_sums(query const& q, groups const& of);

/// Compares with a second pass over the file, row by row. Returns the first difference as text, or
/// an empty text.
std::string difference_from_sequential(aggregate_options const& o, groups const& found);

}  // namespace hash_table
