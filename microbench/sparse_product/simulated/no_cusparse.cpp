// SPDX-License-Identifier: Apache-2.0
// Adds no arm: cuSPARSE runs on GPUs only.

#include "microbench/sparse_product/work.cuh"

namespace sparse_product {

void add_cusparse(workloads::arm_makers<product_work>&) {}

}  // namespace sparse_product
