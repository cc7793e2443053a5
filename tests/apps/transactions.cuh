// SPDX-License-Identifier: Apache-2.0
// Transactions by an arm, run and checked.
#pragma once

#include "apps/transactions/arms.cuh"
#include "apps/transactions/serial_check.cuh"

#include <memory>
#include <string>

namespace test {

/// Runs all transactions. Returns the error of the check on the host, or of that on the device;
/// empty if there is none.
inline std::string run_and_check(transactions::ycsb& all, transactions::arm& arm) {
  all.open_async();
  arm.run_async();
  arm.wait();
  std::string const error_text = all.error_text(arm.claims_order());
  if (!error_text.empty()) return error_text;
  return transactions::serial_check{all}.error_text(arm.claims_order());
}

}  // namespace test
