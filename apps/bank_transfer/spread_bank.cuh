// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accounts that are spread over several GPUs: a withdrawal on one sends the deposit to another.
#pragma once

#include "apps/bank_transfer/account.cuh"

#include <warden/buffer.hpp>
#include <warden/spread.cuh>

#include <cstdint>

namespace bank_transfer {

/// Policy of a spread bank. A run has twice as many threads in a block. Sections that send into a
/// log need more registers.
using spread_bank_policy =
    warden::policy<warden::options{.block_threads = 128}, warden::context<section_context>>;

/// One rank's share of the accounts. All ranks construct it, run it and wait for it.
class spread_bank {
 public:
  /// Constructs a share of `accounts` accounts of all ranks, each with `opening` cents after
  /// `open_async`. All ranks together send at most `most` transfers in a run; one rank may send all
  /// of them. Throws limit_error for an impossible plan and cuda_error when memory is short.
  spread_bank(warden::communicator const& world, std::uint32_t accounts, std::int64_t opening,
              std::uint32_t most);

  /// Sets this rank's accounts to their opening balance and their counts to 0; enqueued.
  void open_async();
  /// Sends this rank's transfers, which may be on accounts of any rank; enqueued.
  void send_async(transfers const& mine);
  /// Runs the transfers that all ranks have sent. Collective; blocks the host.
  void run() { log_.run(); }
  /// Blocks the host until the run is done on all ranks. Throws its error.
  void wait() { on_.wait(); }
  /// Writes this rank's accounts to `all[id]`; enqueued.
  void copy_async(account* all) const;
  /// Returns the number of audits on this rank that saw a transfer half done since construction;
  /// blocks the host.
  [[nodiscard]] std::uint64_t broken() const { return broken_.to_host()[0]; }
  /// Returns the communicator of the ranks.
  [[nodiscard]] warden::communicator const& world() const { return on_.world(); }

 private:
  using guarded = warden::basic_spread_guarded<spread_bank_policy, account, withdraw, deposit,
                                               look_at_first, look_at_second>;
  using log =
      warden::deferred<guarded::policy, account, withdraw, deposit, look_at_first, look_at_second>;

  std::int64_t opening_;
  warden::buffer<std::uint64_t> broken_;
  guarded on_;
  log log_;
};

}  // namespace bank_transfer
