// SPDX-License-Identifier: Apache-2.0
// What the answers benchmark's callers were told, and whether that can be true.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>

namespace answers {

/// The calls of a run: call i asks record `ids[i]` for `tickets[i]`.
struct calls {
  /// The ticket of a call without an answer.
  static constexpr std::uint32_t no_ticket = ~0u;
  std::uint32_t const* ids;
  std::uint32_t* tickets;
  std::uint32_t n;
};

/// Checks that each record handed out the tickets 0, 1, 2 and so on once each, one for each call.
class ticket_oracle {
 public:
  ticket_oracle(std::uint32_t keys, std::uint32_t most)
      : asked_{keys}, begin_{keys}, marks_{most}, wrong_{1} {}

  /// How many calls and records are wrong.
  std::uint32_t wrong(calls const& all, warden::buffer<std::uint32_t> const& records);

 private:
  warden::buffer<std::uint32_t> asked_, begin_, marks_, wrong_;
};

}  // namespace answers
