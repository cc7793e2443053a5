// SPDX-License-Identifier: Apache-2.0
/// @file
/// The check of a run on the device: it compares what `ycsb::error_text` compares, row by row.
#pragma once

#include "apps/transactions/ycsb.cuh"

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace transactions {

/// An access to a row, in the serial order of all accesses to it.
struct row_access {
  std::uint64_t sum;    ///< sum of all rows that its transaction read
  std::uint32_t place;  ///< transaction * operations + operation
  bool writes;
};

/// Executes a run again from what it has written: the accesses to each row one after another in the
/// serial order, with the sum that each transaction claims to have read, and all rows concurrently.
/// Then it compares the sum of each transaction with the rows that this execution has given it. If
/// all agree, a sequential execution gives the same bits: its first transaction reads and writes
/// the same, thus its second one, and so on.
class serial_check {
 public:
  /// Makes the memory for runs of `of`, which outlives this object. Throws cuda_error when memory
  /// is short.
  explicit serial_check(ycsb const& of);

  /// Returns the error of the last run in one line; empty if there is none. The order is that of
  /// `ycsb::error_text`. Blocks the host.
  [[nodiscard]] std::string error_text(bool is_claimed);

  /// Results of the kernels.
  struct findings {
    std::uint32_t repeated;  ///< a transaction without a serial number of its own, or `nothing`
    std::uint32_t row;       ///< a row that is not as expected, or `nothing`
    std::uint32_t sum;       ///< a transaction with another sum, or `nothing`
    std::uint32_t expected;  ///< accessed rows that are to differ from their first values
    std::uint32_t changed;   ///< rows that differ from their first values
  };
  static constexpr std::uint32_t nothing = 0xffffffffu;

 private:
  void order(bool is_claimed);
  template <class Row>
  void execute();
  void sort(std::uint32_t n, unsigned bits);

  ycsb const& of_;
  warden::buffer<std::uint32_t> words_;  ///< keys, values, and both sorted; [access] each
  warden::buffer<std::uint32_t> order_;  ///< [number in the serial order] transaction
  warden::buffer<row_access> accesses_;  ///< [access], by row and serial order
  warden::buffer<std::uint64_t> sums_;   ///< [transaction][operation] sum of the row that it reads
  warden::buffer<std::byte> sorting_;
  warden::buffer<findings> found_;
};

}  // namespace transactions
