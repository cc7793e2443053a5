// SPDX-License-Identifier: Apache-2.0
// Transfers for tests of the bank.
#pragma once

#include "apps/bank_transfer/account.cuh"
#include "apps/bank_transfer/trace.hpp"

#include <warden/buffer.hpp>

#include <cstdint>
#include <random>

namespace test {

using bank_transfer::trace;
using bank_transfer::transfers;

/// A trace in device memory.
struct on_device {
  explicit on_device(trace const& t)
      : from{t.from},
        to{t.to},
        amounts{t.amounts},
        all{from.data(), to.data(), amounts.data(), static_cast<std::uint32_t>(t.size())} {}
  warden::buffer<std::uint32_t> from, to, amounts;
  transfers all;
};

/// Transfers among accounts, some of them hot and some to the account they come from.
inline trace drawn(std::uint32_t n, std::uint32_t accounts, std::uint32_t most) {
  std::mt19937 random{n};
  trace t;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const from = i % 3 == 0 ? 0 : random() % accounts;
    std::uint32_t const to = i % 7 == 0 ? from : random() % accounts;
    t.add(from, to, 1 + random() % most);
  }
  return t;
}

/// Nothing but transfers within few pairs, and audits of them.
inline trace busy_pairs(std::uint32_t n, std::uint32_t ordinary) {
  trace t;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const first = ordinary + 2 * (i / 2 % 2), payer = i / 4 % 2;
    t.add(first + payer, first + 1 - payer, i % 2 == 0 ? 0 : 7);
  }
  return t;
}

}  // namespace test
