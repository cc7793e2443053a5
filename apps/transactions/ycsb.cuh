// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rows and transactions of YCSB in device memory, and the check by a sequential replay.
#pragma once

#include "apps/transactions/transaction.cuh"

#include <warden/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace transactions {

/// Size and distribution of a workload.
struct ycsb_options {
  std::uint32_t rows = 1u << 20;          ///< `operations` to `most_rows`
  unsigned row_bytes = 8;                 ///< 8 or 100
  double theta = 0;                       ///< exponent of Zipf's law; 0 to most_theta
  double writes = 50;                     ///< share of operations that write; percent
  std::uint32_t transactions = 1u << 16;  ///< 1 to most_transactions
  bool repeats = false;                   ///< true if a transaction may name a row twice
  std::uint64_t seed = 1;
};
inline constexpr double most_theta = 0.999;
inline constexpr std::uint32_t most_transactions = 1u << 26;

/// YCSB with 10 operations a transaction. The rows of operations are drawn by Zipf's law [Gray
/// 1994], and a permutation spreads the frequent ones over the table.
class ycsb {
 public:
  /// Draws the transactions on the current device. Throws limit_error for options outside their
  /// limits, and cuda_error when memory is short.
  explicit ycsb(ycsb_options const& o);

  /// Sets all rows to their first values, and frees all locks; enqueued.
  void open_async();
  /// Replays the transactions on the host, one after another, and compares every row and what every
  /// transaction read, bit for bit. The order is that of the transactions, or with `is_claimed`
  /// that of the serial numbers. Returns the error in one line; empty if there is none. Blocks the
  /// host.
  [[nodiscard]] std::string error_text(bool is_claimed) const;

  [[nodiscard]] ycsb_options const& options() const { return options_; }
  [[nodiscard]] std::uint32_t size() const { return options_.transactions; }
  [[nodiscard]] transaction const* all() const { return all_.data(); }
  template <class Row>
  [[nodiscard]] Row* rows() const {
    return reinterpret_cast<Row*>(rows_.data());
  }
  /// A word of each row for an arm's lock or version: 0 after `open_async`.
  [[nodiscard]] std::uint32_t* words() const { return words_.data(); }
  /// A longer word of each row, for times: 0 after `open_async`.
  [[nodiscard]] std::uint64_t* times() const { return times_.data(); }
  /// [transaction] sum of all rows that it read.
  [[nodiscard]] std::uint64_t* sums() const { return sums_.data(); }
  /// [transaction] number that orders it among all others.
  [[nodiscard]] std::uint64_t* serial() const { return serial_.data(); }

 private:
  template <class Row>
  [[nodiscard]] std::string replay(std::vector<std::uint32_t> const& order) const;

  ycsb_options options_;
  warden::buffer<transaction> all_;
  warden::buffer<std::byte> rows_;
  warden::buffer<std::uint32_t> words_;
  warden::buffer<std::uint64_t> times_, sums_, serial_;
  std::vector<transaction> on_host_;
};

}  // namespace transactions
