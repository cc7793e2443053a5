// SPDX-License-Identifier: Apache-2.0
// Adds no arms: the simulated device has no CUB and no bulk reductions.

#include "microbench/workloads/group_by.cuh"
#include "microbench/workloads/scatter.cuh"
#include "microbench/workloads/sparse_keys.cuh"

namespace workloads {

void add_cub_arms(arm_makers<group_work>&) {}
void add_cub_arms(arm_makers<keyed_work>&) {}
void add_bulk_arms(arm_makers<scatter_work<8>>&) {}
void add_bulk_arms(arm_makers<scatter_work<64>>&) {}

}  // namespace workloads
