// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables and transactions of TPC-C in device memory, the replay on the host, and the conditions of
/// consistency.
#pragma once

#include "apps/transactions/tpcc/transaction.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace transactions::tpcc {

/// Transactions of a run.
enum class mix { new_orders, payments, both };

struct tpcc_options {
  scale of;  ///< 2 to most_warehouses warehouses, and numbers within the limits below
  mix kinds = mix::both;
  std::uint32_t transactions = 1u << 16;  ///< 1 to most_transactions
  std::uint64_t seed = 1;
};
inline constexpr std::uint32_t most_warehouses = item_line::most_warehouses;
inline constexpr std::uint32_t least_customers = 10, most_customers = 3000;
inline constexpr std::uint32_t least_items = 10, most_items = 100'000;
inline constexpr std::uint32_t most_transactions = 1u << 22;

/// Tables on the host.
struct host_tables {
  std::vector<std::uint32_t> prices, warehouse_taxes, district_taxes, discounts, credits,
      name_begins, names;
  std::uint32_t bad_credits = 0;  ///< customers with bad credit
  std::vector<record> records;    ///< before the first transaction
};

/// Tables as the specification populates them, and transactions. Rows of ORDER, NEW-ORDER,
/// ORDER-LINE and HISTORY that the population has are not stored: no transaction here reads them,
/// and the conditions count them.
class workload {
 public:
  /// Throws limit_error for options outside their limits, and cuda_error when memory is short.
  explicit workload(tpcc_options const& o);

  /// Makes the tables those before the first transaction, and frees all locks; enqueued.
  void open_async();
  /// Replays the transactions on the host. Compares all records, all inserted rows, and all answers
  /// with those of the run, bit for bit. The order is that of the transactions, or with
  /// `is_claimed` that of the serial numbers. Returns the error in one line; empty if there is
  /// none. Blocks the host.
  [[nodiscard]] std::string replay_error_text(bool is_claimed) const;
  /// Checks conditions 1 to 4, 6 and 8 to 12 of clause 3.3.2 on the device, and those of customers
  /// and stock that README.md lists. Returns the first that fails in one line; empty if there is
  /// none. Blocks the host.
  [[nodiscard]] std::string condition_error_text() const;

  [[nodiscard]] tpcc_options const& options() const { return options_; }
  [[nodiscard]] std::uint32_t size() const { return options_.transactions; }
  [[nodiscard]] transaction const* all() const { return all_.data(); }
  [[nodiscard]] record* records() const { return records_.data(); }
  /// The tables, with pointers to device memory.
  [[nodiscard]] tables const& in() const { return in_; }
  /// Device memory with `in()`.
  [[nodiscard]] tables const* device_tables() const { return device_tables_.data(); }
  /// A word of each record for an arm's lock or version: 0 after `open_async`.
  [[nodiscard]] std::uint32_t* words() const { return words_.data(); }
  /// [transaction] what it answered.
  [[nodiscard]] std::uint64_t* answers() const { return answers_.data(); }
  /// [transaction] number that orders it among all others.
  [[nodiscard]] std::uint64_t* serial() const { return serial_.data(); }

 private:
  template <class Row>
  [[nodiscard]] std::string difference(char const* table, warden::buffer<Row> const& found,
                                       std::vector<Row> const& wanted) const;

  tpcc_options options_;
  host_tables host_;
  std::vector<transaction> on_host_;
  warden::buffer<transaction> all_;
  warden::buffer<std::uint32_t> prices_, warehouse_taxes_, district_taxes_, discounts_, credits_,
      name_begins_, names_;
  warden::buffer<std::uint64_t> infos_;
  warden::buffer<record> first_, records_;  // first_: before the first transaction
  warden::buffer<order> orders_;
  warden::buffer<std::uint32_t> new_orders_;
  warden::buffer<order_line> lines_;
  warden::buffer<history> payments_, remarks_;
  warden::buffer<std::uint32_t> words_;
  warden::buffer<std::uint64_t> answers_, serial_;
  tables in_{};
  warden::buffer<tables> device_tables_;
};

/// Return the population and the transactions of a workload.
host_tables populate(tpcc_options const& o);
std::vector<transaction> draw(tpcc_options const& o);

}  // namespace transactions::tpcc
