// SPDX-License-Identifier: Apache-2.0
// Random programs on logs whose sections run by the executor runs, in no order.

#include "run.cuh"

namespace policies {

template void run_seed<executor::runs, order::unordered>(std::uint64_t);

}  // namespace policies
