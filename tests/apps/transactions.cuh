// SPDX-License-Identifier: Apache-2.0
// Transactions by an arm, run and checked.
#pragma once

#include "apps/transactions/arms.cuh"

#include <memory>
#include <string>

namespace test {

/// Runs all transactions. Returns the error of the check; empty if there is none.
inline std::string run_and_check(transactions::ycsb& all, transactions::arm& arm) {
  all.open_async();
  arm.run_async();
  arm.wait();
  return all.error_text(arm.claims_order());
}

}  // namespace test
