// SPDX-License-Identifier: Apache-2.0
// Checks the counts of a histogram.
#pragma once

#include "microbench/allocation/algorithms.hpp"

#include <warden/buffer.hpp>

#include <cstdint>

namespace allocation {

/// Counts the samples again, by one atomic each, and compares.
class histogram_oracle {
 public:
  explicit histogram_oracle(std::uint32_t bins) : expected_{bins}, wrong_{1} {}
  /// Returns the number of wrong bins.
  std::uint64_t wrong(histogram_arguments const& made);

 private:
  warden::buffer<std::uint64_t> expected_, wrong_;
};

}  // namespace allocation
