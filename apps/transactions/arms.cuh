// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that run the same transactions, by name.
#pragma once

#include "apps/transactions/arm.cuh"
#include "apps/transactions/ycsb.cuh"

#include <memory>
#include <string>
#include <vector>

namespace transactions {

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm of that name, which is in `arm_names`. Throws limit_error for another name, and
/// cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, ycsb& on, arm_options const& o = {});

std::unique_ptr<arm> make_warden_arm(ycsb& on, arm_options const& o);

}  // namespace transactions
