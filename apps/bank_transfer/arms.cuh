// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that do the same transfers, by name.
#pragma once

#include "apps/bank_transfer/bank.cuh"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bank_transfer {

/// Arm for one bank. The bank must outlive it.
class arm {
 public:
  virtual ~arm() = default;
  /// Returns the properties that the audit may expect.
  [[nodiscard]] virtual expectations promises() const { return {}; }
  /// Chooses the arm's settings by measuring them on these transfers, which changes the bank.
  /// Returns a description of the settings. Blocks the host.
  virtual std::string tune(transfers const&) { return {}; }
  /// Allocates the memory for `n` transfers, and makes the choices that depend on their number.
  virtual void reserve(std::uint32_t /*n*/) {}
  /// Enqueues all transfers as one launch.
  virtual void run_async(transfers const& all) = 0;
  /// Blocks the host until all transfers are done. Throws their error.
  virtual void wait() = 0;
  /// Returns counters of all executions; empty for most arms.
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
};

/// Memory of the accounts of one server during a launch.
enum class where {
  on_chip_if_they_fit,
  on_chip,  ///< an error if they do not fit
  in_memory,
};
/// Settings of one server that owns all accounts. 0 selects the default.
struct colocation {
  unsigned threads = 0;  ///< threads of every block: 256 or 640; more would spill registers
  where accounts = where::on_chip_if_they_fit;  ///< during a run
  unsigned client_blocks = 0;                   ///< blocks of the virtual grid
};

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Name of `warden_nested` with clocks in its servers. It shows the shares of the time; its total
/// time is not comparable.
inline constexpr char timed_arm[] = "warden_nested_timed";

/// Returns the arm of that name, which is in `arm_names` or is `timed_arm`. Throws limit_error with
/// the reason if the arm cannot work on this bank.
std::unique_ptr<arm> make_arm(std::string const& name, bank& b, colocation const& chosen = {});

/// Returns `warden_forwarding`, deferred, on `gpus` GPUs with a share of the accounts each. Copies
/// from and to the bank are not part of the measurement. Its `run_async` blocks the host. Throws
/// limit_error if there are not enough GPUs.
std::unique_ptr<arm> make_spread_arm(bank& b, int gpus);

// One translation unit for each kind of arm, because their kernels compile slowly.
std::unique_ptr<arm> make_lock_arm(std::string const& name, bank& b);
std::unique_ptr<arm> make_rounds_arm(bank& b);
std::unique_ptr<arm> make_several_arm(bank& b);
std::unique_ptr<arm> make_warden_arm(std::string const& name, bank& b, colocation const& chosen);

}  // namespace bank_transfer
