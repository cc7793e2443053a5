// SPDX-License-Identifier: Apache-2.0
// CUB runs on GPUs only.

#include "microbench/bank_conflicts/arms.hpp"

namespace bank_conflicts {

sort_arms block_sorts() { return {}; }

}  // namespace bank_conflicts
