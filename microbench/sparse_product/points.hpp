// SPDX-License-Identifier: Apache-2.0
// Points of the benchmark, one for each matrix.
#pragma once

#include "microbench/support/point.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace sparse_product {

/// Names of all arms. `coo_segments` needs COO in the order of rows. `coo_atomics` and those by
/// Warden take any order, and get that of rows, except for `warden_coo_deterministic_shuffled`. The
/// others read CSR.
inline char const* const arm_names[] = {"coo_atomics",
                                        "warden_coo",
                                        "warden_coo_deterministic",
                                        "warden_coo_deterministic_shuffled",
                                        "coo_segments",
                                        "csr_rows",
                                        "csr_merge",
                                        "cusparse"};

/// Returns the product of a matrix of 2^scale entries and a vector as a point. An operation is an
/// entry. Counter `bytes`: least bytes that an arm moves, if it moves x and y once. Throws
/// limit_error for a name that make_matrix does not know.
std::shared_ptr<bench::point> make_point(std::string const& matrix, std::uint32_t scale);

}  // namespace sparse_product
