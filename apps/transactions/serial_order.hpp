// SPDX-License-Identifier: Apache-2.0
/// @file
/// The order of transactions by their serial numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace transactions {

/// Serial number of a transaction that did not run.
inline constexpr std::uint64_t no_serial = ~std::uint64_t{0};

/// Transactions in a serial order, or the error that there is none.
struct serial_order {
  std::vector<std::uint32_t> transactions;
  std::string error_text;
};
/// Returns the order of `serial`, which has the serial number of each transaction.
inline serial_order order_of(std::vector<std::uint64_t> const& serial) {
  serial_order found;
  auto& order = found.transactions;
  order.resize(serial.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return serial[a] < serial[b]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (serial[order[k]] == no_serial) {
      auto const first =
          std::min_element(order.begin() + static_cast<std::ptrdiff_t>(k), order.end());
      found.error_text = "transaction " + std::to_string(*first) + " did not run";
      break;
    }
    if (k != 0 && serial[order[k - 1]] == serial[order[k]]) {
      found.error_text = "transactions " + std::to_string(order[k - 1]) + " and " +
                         std::to_string(order[k]) + " have one serial number";
      break;
    }
  }
  return found;
}
/// Returns the numbers from 0 to n - 1: the serial numbers of transactions that run one after
/// another.
inline std::vector<std::uint64_t> serial_as_given(std::size_t n) {
  std::vector<std::uint64_t> serial(n);
  std::iota(serial.begin(), serial.end(), std::uint64_t{0});
  return serial;
}

}  // namespace transactions
