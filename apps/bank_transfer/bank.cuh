// SPDX-License-Identifier: Apache-2.0
/// @file
/// A bank: accounts in device memory, pairs of accounts that are audited while transfers run, and
/// the audit at the end.
#pragma once

#include "apps/bank_transfer/account.cuh"
#include "apps/bank_transfer/numbering.hpp"

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bank_transfer {

/// Largest opening balance, in cents, so that every sum fits 64 bits.
inline constexpr std::int64_t most_opening = 100'000'000'000;

/// Size of a bank.
struct bank_options {
  std::uint32_t accounts = 0;  ///< ordinary accounts; 1 to most_accounts
  std::int64_t opening =
      1'000'000;  ///< opening balance of every account, in cents; 0 to most_opening
};

/// Properties that an arm promises.
struct expectations {
  bool isolates = true;           ///< no thread sees a transfer half done
  bool counts_by_account = true;  ///< `executed` is counted in each account
};

/// Result of the audit.
struct findings {
  std::int64_t sum = 0;             ///< sum of all balances
  std::uint64_t executed = 0;       ///< executed transfers and audits
  std::uint64_t refused = 0;        ///< refused transfers
  std::uint64_t audits = 0;         ///< audits of a pair during the transfers
  std::uint64_t broken_audits = 0;  ///< audits that saw a transfer half done
  std::uint64_t below_zero = 0;     ///< accounts below 0
  std::uint64_t miscounted =
      0;  ///< accounts whose executed and refused transfers are not those sent
  std::uint64_t misbooked = 0;    ///< accounts whose balance is not the result of their transfers
  std::uint64_t pairs_apart = 0;  ///< pairs whose sum has changed
};

/// Accounts on the device current at construction. All arms use the same accounts.
class bank {
 public:
  /// Throws limit_error for an impossible size, cuda_error when memory is short.
  explicit bank(bank_options o);

  /// Sets every account to its opening balance and its counts to 0; enqueued.
  void open_async();
  /// Checks every account against the transfers sent. Blocks the host. Precondition: no other work
  /// uses the bank.
  [[nodiscard]] findings audit(transfers const& sent, expectations const& e);
  /// Returns the error in one line; empty if there is none.
  [[nodiscard]] std::string error_text(findings const& f, transfers const& sent,
                                       expectations const& e) const;

  [[nodiscard]] account* accounts() const { return accounts_.data(); }
  /// Number of ordinary accounts.
  [[nodiscard]] std::uint32_t ordinary() const { return options_.accounts; }
  /// Number of all accounts: the ordinary accounts, then the accounts of pairs.
  [[nodiscard]] std::uint32_t size() const { return options_.accounts + 2 * pairs(); }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_for(options_.accounts); }
  [[nodiscard]] section_context context() const {
    return {2 * options_.opening, &counters_.data()->broken};
  }
  /// Counter of executed transfers for an arm that does not count them in the accounts.
  [[nodiscard]] std::uint64_t* executed() const { return &counters_.data()->executed; }
  [[nodiscard]] std::vector<account> to_host() const { return accounts_.to_host(); }

  /// Expected effect of the transfers on one account.
  struct booked {
    std::int64_t moved;      ///< cents moved by transfers from accounts that refused none
    std::uint32_t sent;      ///< transfers sent from this account
    std::uint32_t doubtful;  ///< 1 if a transfer that may have been refused touches it
  };
  /// Counts made during the transfers and during the audit.
  struct counters {
    std::uint64_t broken, executed;               // during the transfers
    std::uint64_t sum, counted, refused, audits;  // during the audit
    std::uint64_t below_zero, miscounted, misbooked, pairs_apart;
  };

 private:
  bank_options options_;
  warden::buffer<account> accounts_;
  warden::buffer<booked> booked_;
  warden::buffer<counters> counters_;
};

}  // namespace bank_transfer
