// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of a bank's accounts: the ordinary accounts from 0 on, then pairs of accounts that
/// exchange money only with each other. So while transfers run, the sum of a pair reveals a
/// transfer that is half done. The first account of pair p of a bank with n ordinary accounts is n
/// + 2 p.
#pragma once

#include <cstdint>

namespace bank_transfer {

/// Largest number of ordinary accounts.
inline constexpr std::uint32_t most_accounts = 1u << 26;

/// One in this many operations is for a pair: alternately a transfer within it and an audit.
inline constexpr std::uint32_t operations_for_a_pair = 32;

/// Returns the number of audited pairs. With this number, an account of a pair is no busier than an
/// ordinary account.
inline std::uint32_t pairs_for(std::uint32_t accounts) {
  std::uint32_t const fair = accounts / (2 * operations_for_a_pair);
  return fair < 4 ? 4 : fair;
}

}  // namespace bank_transfer
