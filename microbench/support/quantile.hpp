// SPDX-License-Identifier: Apache-2.0
// Quantiles of samples.
#pragma once

#include <cstddef>
#include <vector>

namespace bench {

/// Returns the quantile `part` of `sorted`. Precondition: `part` is in [0, 1]; the array is sorted
/// and not empty.
inline double quantile(std::vector<double> const& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

}  // namespace bench
