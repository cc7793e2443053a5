// SPDX-License-Identifier: Apache-2.0
// Orders of keys in a tile.
#pragma once

#include "microbench/bank_conflicts/arms.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bank_conflicts {

/// Names of all inputs.
inline char const* const input_names[] = {"random",        "sorted",         "adversarial_8",
                                          "adversarial_9", "adversarial_32", "adversarial_padded"};

/// Returns the keys of a tile, a permutation of 0, 1, ..., in the order of the input. Empty for
/// random keys, which are drawn anew for each repetition. Throws limit_error for other names.
std::vector<std::uint32_t> keys_of(std::string const& input);

/// Returns an order of n keys for which a pairwise merge sort, whose threads merge `items` keys
/// each, has many bank conflicts in each merge. Every 32 keys take `pitch` words of memory.
std::vector<std::uint32_t> adversarial(unsigned n, unsigned items, unsigned pitch = side);

}  // namespace bank_conflicts
