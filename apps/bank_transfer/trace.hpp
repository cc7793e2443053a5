// SPDX-License-Identifier: Apache-2.0
/// @file
/// Traces: files of transfers, with lines of `from,to,amount`, accounts from 0 on and amounts in
/// cents.
#pragma once

#include "apps/bank_transfer/numbering.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bank_transfer {

/// Transfers on the host: number i moves `amounts[i]` cents from `from[i]` to `to[i]`.
struct trace {
  std::vector<std::uint32_t> from, to, amounts;
  [[nodiscard]] std::size_t size() const { return from.size(); }
  void add(std::uint32_t payer, std::uint32_t payee, std::uint32_t amount) {
    from.push_back(payer);
    to.push_back(payee);
    amounts.push_back(amount);
  }
};

/// Largest amount of one transfer, in cents, because messages hold 32 bits of it.
inline constexpr std::uint32_t most_cents = 0xffffffffu;
/// Largest number of transfers of a trace, so that 32 bits count transfers and added audits.
inline constexpr std::size_t most_transfers = 1u << 31;

/// Reads a file. The first line may be the header `from,to,amount`. Blank lines, comments, which
/// begin with #, and blanks around numbers are skipped. Throws std::runtime_error, with the file's
/// name and the line's number, for a line that is no transfer among `accounts` accounts.
trace read_trace(std::string const& path, std::uint32_t accounts = most_accounts);

/// Returns the trace with added operations on the audited pairs, which follow `ordinary` accounts:
/// one in `operations_for_a_pair`, alternately a transfer within a pair and an audit.
trace with_audits(trace const& t, std::uint32_t ordinary);

}  // namespace bank_transfer
