// SPDX-License-Identifier: Apache-2.0
// Transactions of TPC-C by an arm, run and checked.
#pragma once

#include "apps/transactions/tpcc/arms.cuh"

#include <string>

namespace test {

/// Runs all transactions. Returns the error of the replay, or of the conditions; empty if there is
/// none.
inline std::string run_and_check(transactions::tpcc::workload& all, transactions::arm& arm) {
  all.open_async();
  arm.run_async();
  arm.wait();
  std::string const error_text = all.replay_error_text(arm.claims_order());
  return error_text.empty() ? all.condition_error_text() : error_text;
}

}  // namespace test
