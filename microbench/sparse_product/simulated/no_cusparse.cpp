// SPDX-License-Identifier: Apache-2.0
// No arm by cuSPARSE: on the simulated device, and on a GPU if the build does not find cuSPARSE.

#include "microbench/sparse_product/cusparse.hpp"

namespace sparse_product {

bool has_cusparse() { return false; }
workloads::arm make_cusparse(matrix_view const&) { return {}; }

}  // namespace sparse_product
