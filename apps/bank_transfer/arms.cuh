// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways to do the same transfers, by name.
#pragma once

#include "apps/bank_transfer/bank.cuh"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bank_transfer {

/// One way, ready to run on one bank, which must outlive it.
class arm {
 public:
  virtual ~arm() = default;
  /// Properties that the audit may expect.
  [[nodiscard]] virtual expectations promises() const { return {}; }
  /// Chooses its settings by trying them on these transfers, which changes the bank, and says what
  /// it chose; blocks the host.
  virtual std::string tune(transfers const&) { return {}; }
  /// Makes the memory for runs of `n` transfers, and the choices that depend on that number.
  virtual void reserve(std::uint32_t /*n*/) {}
  /// All of them as one launch; enqueued.
  virtual void run_async(transfers const& all) = 0;
  /// Blocks the host until they are done. Throws what went wrong.
  virtual void wait() = 0;
  /// Counters of all its executions, if it counts anything.
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
};

/// Where the accounts of one server are during a run.
enum class where {
  on_chip_if_they_fit,
  on_chip,  ///< if they do not fit, there is no arm
  in_memory,
};
/// How one server that owns all accounts works. Zero means: by default.
struct colocation {
  unsigned threads = 0;  ///< threads of every block: 256 or 640; more would spill registers
  where accounts = where::on_chip_if_they_fit;  ///< during a run
  unsigned client_blocks = 0;                   ///< blocks of the virtual grid
};

/// The arms to compare.
std::vector<std::string> const& arm_names();
/// `warden_nested` with clocks in its servers: for where the time goes, not for how much it is.
inline constexpr char timed_arm[] = "warden_nested_timed";

/// The arm of that name, of `arm_names` or `timed_arm`. Throws limit_error, which says why, if it
/// cannot work on this bank.
std::unique_ptr<arm> make_arm(std::string const& name, bank& b, colocation const& chosen = {});

/// `warden_forwarding`, deferred, on `gpus` GPUs with a share of the accounts each. Copies from and
/// to the bank are not part of the measurement. Its `run_async` blocks the host. Throws limit_error
/// if there are not enough GPUs.
std::unique_ptr<arm> make_spread_arm(bank& b, int gpus);

// One translation unit for each kind: their kernels take long enough to compile.
std::unique_ptr<arm> make_lock_arm(std::string const& name, bank& b);
std::unique_ptr<arm> make_rounds_arm(bank& b);
std::unique_ptr<arm> make_warden_arm(std::string const& name, bank& b, colocation const& chosen);

}  // namespace bank_transfer
