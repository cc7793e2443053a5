// SPDX-License-Identifier: Apache-2.0
/// @file
/// A bank: accounts in device memory, pairs among them that are watched while transfers run, and
/// the audit at the end.
#pragma once

#include "apps/bank_transfer/account.cuh"
#include "apps/bank_transfer/numbering.hpp"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bank_transfer {

/// The largest opening balance, in cents: no sum then leaves 64 bits.
inline constexpr std::int64_t most_opening = 100'000'000'000;

/// How large a bank is.
struct bank_options {
  std::uint32_t accounts = 0;  ///< ordinary ones; 1 to most_accounts
  std::int64_t opening =
      1'000'000;  ///< balance of every account at first, in cents; 0 to most_opening
};

/// Properties that an arm promises.
struct expectations {
  bool isolates = true;           ///< no transfer is seen half done
  bool counts_by_account = true;  ///< `executed` is counted in each account
};

/// Result of the audit.
struct findings {
  std::int64_t sum = 0;             ///< sum of all balances
  std::uint64_t executed = 0;       ///< transfers and audits
  std::uint64_t refused = 0;        ///< transfers
  std::uint64_t audits = 0;         ///< looks at a pair during the run
  std::uint64_t broken_audits = 0;  ///< those that saw a transfer half done
  std::uint64_t below_zero = 0;     ///< accounts
  std::uint64_t miscounted =
      0;  ///< accounts whose executed and refused transfers are not those that were sent
  std::uint64_t misbooked = 0;    ///< accounts whose balance is not what their transfers make it
  std::uint64_t pairs_apart = 0;  ///< pairs whose sum has changed
};

/// Accounts on the device current at construction. All arms work on the same ones.
class bank {
 public:
  /// Throws limit_error for an impossible size, cuda_error when memory is short.
  explicit bank(bank_options o);

  /// Gives every account its opening balance, with nothing counted; enqueued.
  void open_async();
  /// Compares every account with the transfers; blocks the host. Precondition: nothing else runs.
  [[nodiscard]] findings audit(transfers const& sent, expectations const& e);
  /// Returns the error in one line; empty if there is none.
  [[nodiscard]] std::string error_text(findings const& f, transfers const& sent,
                                       expectations const& e) const;

  [[nodiscard]] account* accounts() const { return accounts_.data(); }
  /// Ordinary accounts.
  [[nodiscard]] std::uint32_t ordinary() const { return options_.accounts; }
  /// All accounts: the ordinary ones, then those of the pairs.
  [[nodiscard]] std::uint32_t size() const { return options_.accounts + 2 * pairs(); }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_for(options_.accounts); }
  [[nodiscard]] section_context context() const {
    return {2 * options_.opening, &counters_.data()->broken};
  }
  /// Where an arm counts executed transfers that it does not count in the accounts.
  [[nodiscard]] std::uint64_t* executed() const { return &counters_.data()->executed; }
  [[nodiscard]] std::vector<account> to_host() const { return accounts_.to_host(); }

  /// One account's share in the transfers, as the audit works it out.
  struct booked {
    std::int64_t moved;      ///< by transfers from accounts that refused nothing
    std::uint32_t sent;      ///< transfers from here
    std::uint32_t doubtful;  ///< 1 if a transfer that may have been refused touches it
  };
  /// Counted during a run and during the audit.
  struct counters {
    std::uint64_t broken, executed;               // the run's
    std::uint64_t sum, counted, refused, audits;  // the audit's
    std::uint64_t below_zero, miscounted, misbooked, pairs_apart;
  };

 private:
  bank_options options_;
  warden::buffer<account> accounts_;
  warden::buffer<booked> booked_;
  warden::buffer<counters> counters_;
};

}  // namespace bank_transfer
