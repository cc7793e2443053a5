// SPDX-License-Identifier: Apache-2.0
// Random programs on logs whose sections run on two records.

#include "run.cuh"

namespace policies {

template void run_seed<executor::nested, order::unordered>(std::uint64_t);

}  // namespace policies
