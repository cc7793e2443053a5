// SPDX-License-Identifier: Apache-2.0
// Transfers of the benchmark, drawn on the device for each repetition.
#pragma once

#include "apps/bank_transfer/bank.cuh"
#include "microbench/support/workload.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>

namespace bank_bench {

/// Draws transfers. Every `bank_transfer::operations_for_a_pair`-th operation is for an audited
/// pair, alternately a transfer within the pair and an audit. The others are transfers of 1 to
/// 1,000 cents:
///
/// | name | from and to |
/// |---|---|
/// | `uniform` | uniform over all accounts; may be the same account |
/// | `zipf099` | drawn independently from one distribution, so that hot accounts pay and receive |
/// | `hot_side` | account 0 pays in 45 % of the transfers and receives in 45 %; else `uniform` |
///
/// Account 0 pays and receives alternately, so that it does not run dry.
class transfer_workload {
 public:
  transfer_workload(std::string name, std::uint32_t accounts)
      : name_{std::move(name)},
        accounts_{accounts},
        ids_{name_ == "zipf099" ? bench::workload::zipf(accounts)
                                : bench::workload::uniform(accounts)} {}

  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] std::uint32_t accounts() const { return accounts_; }

  /// Allocates memory for `most` transfers.
  void reserve(std::uint32_t most) {
    from_ = warden::buffer<std::uint32_t>{most};
    to_ = warden::buffer<std::uint32_t>{most};
    amounts_ = warden::buffer<std::uint32_t>{most};
  }
  /// Enqueues the draw of the first `n` transfers of a seed. The result is valid until the next
  /// draw.
  bank_transfer::transfers draw(std::uint32_t n, std::uint64_t seed);

 private:
  std::string name_;
  std::uint32_t accounts_;
  bench::workload ids_;
  warden::buffer<std::uint32_t> from_, to_, amounts_;
};

}  // namespace bank_bench
