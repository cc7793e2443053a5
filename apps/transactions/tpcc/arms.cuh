// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that run the same transactions of TPC-C, by name.
#pragma once

#include "apps/transactions/arm.cuh"
#include "apps/transactions/tpcc/workload.cuh"

#include <memory>
#include <string>
#include <vector>

namespace transactions::tpcc {

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm of that name, which is in `arm_names`. Throws limit_error for another name, and
/// cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, workload& on, arm_options const& o = {});

}  // namespace transactions::tpcc
