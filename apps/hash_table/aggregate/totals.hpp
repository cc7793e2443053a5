// SPDX-License-Identifier: Apache-2.0
/// @file
/// Aggregates of the groups, computed on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hash_table {

/// Totals of whole numbers. All fields are 0 if there are none.
struct whole_totals {
  std::uint64_t low, high;  ///< sum of 128 bits, in two's complement
  std::int64_t minimum, maximum;
  std::uint64_t count;
};

/// Totals of floating-point numbers. All fields are 0 if there are none.
struct real_totals {
  double sum;
  double deviations;  ///< sum of the squared deviations from the mean
  double minimum, maximum;
  std::uint64_t count;
};

/// Numbers of one piece of a file, each with its record: the number of its group, times the number
/// of columns of this type, plus the number of the column.
template <class Number>
struct piece {
  std::vector<std::uint32_t> records;
  std::vector<Number> numbers;

  void add(std::uint32_t record, Number number) {
    records.push_back(record);
    numbers.push_back(number);
  }
  void clear() {
    records.clear();
    numbers.clear();
  }
};

/// Totals of some columns of one type for each group, in bounded device memory. Instantiated for
/// `whole_totals` with std::int64_t, and for `real_totals` with double. The numbers of a
/// record in a piece are added in a tree that depends only on how many they are.
template <class Totals, class Number>
class device_totals {
 public:
  /// Allocates memory for `groups` groups of `columns` columns, and for pieces of at most
  /// `most_numbers`. Throws cuda_error when memory is short.
  device_totals(std::size_t groups, std::size_t columns, std::size_t most_numbers);
  ~device_totals();
  device_totals(device_totals const&) = delete;
  device_totals& operator=(device_totals const&) = delete;

  /// Adds the numbers of a piece to the totals of the first `groups` groups. Blocks the host.
  /// Throws what went wrong on the device.
  void add(piece<Number> const& numbers, std::size_t groups);
  /// Returns the totals of the first `groups` groups, by record. Blocks the host.
  [[nodiscard]] std::vector<Totals> to_host(std::size_t groups) const;
  /// Returns the device memory. Units: bytes.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct device_state;

  std::size_t columns_;
  std::unique_ptr<device_state> state_;
};

using whole_columns = device_totals<whole_totals, std::int64_t>;
using real_columns = device_totals<real_totals, double>;

}  // namespace hash_table
