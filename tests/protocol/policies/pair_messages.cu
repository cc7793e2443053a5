// SPDX-License-Identifier: Apache-2.0
// Random programs on logs whose sections run on two records.

#include "run.cuh"

namespace policies {

template void run_seed<executor::pair_messages, order::unordered>(std::uint64_t);

}  // namespace policies
