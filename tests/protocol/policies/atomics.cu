// SPDX-License-Identifier: Apache-2.0
// Random programs on logs whose sections run by the executor atomics.

#include "run.cuh"

namespace policies {

template void run_seed<executor::atomics, order::unordered>(std::uint64_t);

}  // namespace policies
