// SPDX-License-Identifier: Apache-2.0
/// @file
/// An account, and the critical section on two of them.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bank_transfer {

namespace simt = warden::simt;

/// The balance in cents, and what became of the transfers from here.
struct alignas(16) account {
  std::int64_t balance;    ///< never below zero
  std::uint32_t executed;  ///< transfers from this account, audits too
  std::uint32_t refused;   ///< those that would have overdrawn it
};

/// What sections are handed beside their accounts.
struct section_context {
  std::int64_t pair_sum;  ///< of the two accounts of each audited pair, at any time
  std::uint64_t* broken;  ///< audits that saw another sum
};

/// Moves `amount` cents, or refuses to: nothing is overdrawn. An amount of zero is an audit: it
/// looks whether the two accounts, which are a pair, have their sum.
struct transfer {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;

  __device__ void operator()(account& from, account& to, section_context context) const {
    if (amount == 0 && from.balance + to.balance != context.pair_sum)
      simt::fetch_add(context.broken, std::uint64_t{1});
    bool const covered = from.balance >= std::int64_t{amount};
    std::int64_t const moved = covered ? amount : 0;
    from.balance -= moved;
    to.balance += moved;  // which may be the same account
    from.executed += covered ? 1 : 0;
    from.refused += covered ? 0 : 1;
  }
};

/// Transfers in device memory: number i moves `amounts[i]` from `from[i]` to `to[i]`.
struct transfers {
  std::uint32_t const* from;
  std::uint32_t const* to;
  std::uint32_t const* amounts;
  std::uint32_t n;
};

/// Transfer i as a section.
struct make_transfer {
  std::uint32_t const* amounts;
  __device__ transfer operator()(std::uint32_t i) const { return {amounts[i]}; }
};

}  // namespace bank_transfer
