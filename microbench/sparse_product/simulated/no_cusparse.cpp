// SPDX-License-Identifier: Apache-2.0
// No arm by cuSPARSE, which runs on GPUs only.

#include "microbench/sparse_product/cusparse.hpp"

namespace sparse_product {

bool has_cusparse() { return false; }
workloads::arm make_cusparse(matrix_view const&) { return {}; }

}  // namespace sparse_product
