// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accounts, and the critical section on two of them.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace bank_transfer {

namespace simt = warden::simt;

/// Account: the balance in cents, and counts of the transfers from it.
struct alignas(16) account {
  std::int64_t balance;    ///< never below zero
  std::uint32_t executed;  ///< executed transfers and audits from this account
  std::uint32_t refused;   ///< refused transfers from this account, which would have overdrawn it
};

/// Context of the sections.
struct section_context {
  std::int64_t pair_sum;  ///< sum of the two accounts of each audited pair, at any time
  std::uint64_t* broken;  ///< number of audits that saw another sum
};

/// Moves `amount` cents, or refuses if this would overdraw the account. An amount of 0 is an audit:
/// it checks the sum of the two accounts, which are a pair.
struct transfer {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;

  WARDEN_COLD static void count_broken(std::uint64_t* broken) {
    simt::fetch_add(broken, std::uint64_t{1});
  }
  __device__ void operator()(account& from, account& to, section_context context) const {
    // One test of 32-bit words, and little code that is almost always skipped.
    auto const off = static_cast<std::uint64_t>(from.balance + to.balance) ^
                     static_cast<std::uint64_t>(context.pair_sum);
    auto const wrong = static_cast<std::uint32_t>(off) | static_cast<std::uint32_t>(off >> 32);
    if (wrong != 0 && amount == 0) count_broken(context.broken);
    // All bits of `refuses` are 1 if the transfer is refused. A comparison would take longer, and
    // transfers of a hot account wait for each other.
    std::int64_t const rest = from.balance - std::int64_t{amount}, refuses = rest >> 63;
    from.balance = (rest & ~refuses) | (from.balance & refuses);
    to.balance += std::int64_t{amount} & ~refuses;  // `to` may be the same account
    from.executed += 1 + static_cast<std::uint32_t>(refuses);
    from.refused -= static_cast<std::uint32_t>(refuses);
  }
};

/// A transfer in two steps, each a section on one account. Between the steps the money is in
/// neither account, and an audit misses it.
struct deposit {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  __device__ void operator()(account& to, section_context) const { to.balance += amount; }
};
struct withdraw {
  static constexpr bool reads_other_memory = false;
  std::uint32_t to;
  std::uint32_t amount;
  template <class Next>
  __device__ void operator()(account& from, section_context, Next& next) const {
    bool const covered = from.balance >= std::int64_t{amount};
    from.executed += covered ? 1 : 0;
    from.refused += covered ? 0 : 1;
    if (!covered) return;
    from.balance -= amount;
    next.send(to, deposit{amount});
  }
};
/// An audit in two steps, which may see a transfer half done.
struct look_at_second {
  static constexpr bool reads_other_memory = false;
  std::uint32_t first_low,
      first_high;  ///< the first account's balance, in two words to need no 8-byte alignment
  __device__ void operator()(account& second, section_context context) const {
    auto const first = static_cast<std::int64_t>(std::uint64_t{first_high} << 32 | first_low);
    if (first + second.balance != context.pair_sum)
      simt::fetch_add(context.broken, std::uint64_t{1});
  }
};
struct look_at_first {
  static constexpr bool reads_other_memory = false;
  std::uint32_t second;
  template <class Next>
  __device__ void operator()(account& first, section_context, Next& next) const {
    first.executed += 1;
    auto const bits = static_cast<std::uint64_t>(first.balance);
    next.send(second, look_at_second{static_cast<std::uint32_t>(bits),
                                     static_cast<std::uint32_t>(bits >> 32)});
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
