// SPDX-License-Identifier: Apache-2.0
/// @file
/// Interface of the arms.
#pragma once

#include <warden/deferred_several.cuh>

#include <cstdint>
#include <map>
#include <string>

namespace transactions {

/// Arm for one workload, which outlives it.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses the arm's settings by measuring them, which changes the rows. Returns a description of
  /// the settings. Blocks the host.
  virtual std::string tune() { return {}; }
  /// Enqueues all transactions. Precondition: the rows have their first values.
  virtual void run_async() = 0;
  /// Blocks the host until all transactions have run. Throws their error.
  virtual void wait() = 0;
  /// True if the arm writes serial numbers. Otherwise the serial order is that of the transactions.
  [[nodiscard]] virtual bool claims_order() const { return true; }
  /// Returns counters of the last run. Blocks the host.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> counters() { return {}; }
};

struct arm_options {
  double limit_seconds = 10;  ///< a wait without progress ends after this time with timeout_error
  bool variant = false;       ///< until `tune`: uses the variant of the arm's protocol
  /// Accesses to a row from which on `warden` lets a block own it.
  std::uint32_t hot_accesses = warden::several_options{}.hot_accesses;
};

}  // namespace transactions
