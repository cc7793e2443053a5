// SPDX-License-Identifier: Apache-2.0
// Random programs on logs whose sections run by the executor sorted, in no order.

#include "run.cuh"

namespace policies {

template void run_seed<executor::sorted, order::unordered>(std::uint64_t);

}  // namespace policies
