// SPDX-License-Identifier: Apache-2.0
// Numbers of elements that items emit.
#pragma once

#include <warden/buffer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace allocation {

/// Distributions of the numbers of elements. `uniform8`: 0 to 8 elements, with equal probability.
/// `zipf`: of n items, the item of rank r emits about n / r elements. `one`: one item emits all
/// elements, 4 times the number of items.
inline std::vector<std::string> const spreads{"uniform8", "zipf", "one"};

/// Draws the number of elements of each item, by a spread.
class item_counts {
 public:
  /// Every item emits `least` elements in addition to those of the spread. Throws
  /// std::runtime_error if there is no such spread.
  item_counts(std::string const& spread, std::uint32_t least);
  /// Draws the counts of n items to device memory. Returns their sum.
  std::uint64_t draw(std::uint32_t* counts, std::uint32_t n, std::uint64_t seed);

 private:
  unsigned spread_;
  std::uint32_t least_;
  warden::buffer<std::uint64_t> sum_;
};

}  // namespace allocation
