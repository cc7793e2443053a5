// SPDX-License-Identifier: Apache-2.0
// Answers to the callers of the answers benchmark, and their check.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>

namespace answers {

/// Calls of a repetition: call i gets `tickets[i]` from record `ids[i]`.
struct calls {
  /// Ticket of a call without an answer.
  static constexpr std::uint32_t no_ticket = ~0u;
  std::uint32_t const* ids;
  std::uint32_t* tickets;
  std::uint32_t n;
};

/// Checks that each record handed out the tickets 0, 1, 2 and so on once each, one for each call.
class ticket_oracle {
 public:
  ticket_oracle(std::uint32_t keys, std::uint32_t most)
      : called_{keys}, begin_{keys}, marks_{most}, wrong_{1} {}

  /// Returns the number of wrong calls and records.
  std::uint32_t wrong(calls const& all, warden::buffer<std::uint32_t> const& records);

 private:
  warden::buffer<std::uint32_t> called_, begin_, marks_, wrong_;
};

}  // namespace answers
