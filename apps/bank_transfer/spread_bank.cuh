// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accounts that are spread over several GPUs: a withdrawal on one sends the deposit to another.
#pragma once

#include "apps/bank_transfer/account.cuh"

#include <warden/buffer.hpp>
#include <warden/spread.cuh>

#include <cstdint>

namespace bank_transfer {

/// Policy of a spread bank.
struct spread_bank_policy : warden::default_policy {
  using context = section_context;
  /// A run has twice as many; sections that send into a log take more registers.
  static constexpr unsigned block_threads = 128;
};

/// One rank's share of the accounts. Made, run and waited for by all ranks.
class spread_bank {
 public:
  /// `accounts` of all ranks, each with `opening` cents after `open_async`. A run has `most`
  /// transfers of all ranks, all of which may be of one rank. Throws limit_error for an impossible
  /// plan and cuda_error when memory is short.
  spread_bank(warden::communicator const& world, std::uint32_t accounts, std::int64_t opening,
              std::uint32_t most);

  /// Gives this rank's accounts their opening balance, with nothing counted; enqueued.
  void open_async();
  /// Sends transfers of this rank, on any rank's accounts; enqueued.
  void send_async(transfers const& mine);
  /// Runs what all ranks have sent. Collective; blocks the host.
  void run() { log_.run(); }
  /// Blocks the host until that has run, on all ranks. Throws what went wrong.
  void wait() { on_.wait(); }
  /// Writes this rank's accounts to `all[id]`; enqueued.
  void copy_async(account* all) const;
  /// Audits that saw a transfer half done on this rank since construction; blocks the host.
  [[nodiscard]] std::uint64_t broken() const { return broken_.to_host()[0]; }
  /// The ranks.
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
