// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accounts of a bank: the ordinary ones from 0 on, and after them pairs of accounts that exchange
/// money only with each other. So the sum of a pair shows, while transfers run, whether one was
/// seen half done. The first account of pair p of a bank with n ordinary accounts is n + 2 p.
#pragma once

#include <cstdint>

namespace bank_transfer {

/// Ordinary accounts, at most.
inline constexpr std::uint32_t most_accounts = 1u << 26;

/// One of this many operations is for a pair: in turn a transfer within it, and an audit.
inline constexpr std::uint32_t operations_for_a_pair = 32;

/// Audited pairs: as many as keep an account of a pair no busier than an ordinary one.
inline std::uint32_t pairs_for(std::uint32_t accounts) {
  std::uint32_t const fair = accounts / (2 * operations_for_a_pair);
  return fair < 4 ? 4 : fair;
}

}  // namespace bank_transfer
