// SPDX-License-Identifier: Apache-2.0
// The arm by cuSPARSE.
#pragma once

#include "microbench/sparse_product/matrix.hpp"
#include "microbench/workloads/arms.hpp"

namespace sparse_product {

/// True if there is an arm by cuSPARSE. If the library cannot be loaded, the first call prints
/// the reason.
bool has_cusparse();
/// Returns the arm. Precondition: has_cusparse(). Throws std::runtime_error with cuSPARSE's text.
workloads::arm make_cusparse(matrix_view const& m);

}  // namespace sparse_product
