// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that run the same transactions, by name.
#pragma once

#include "apps/transactions/arm.cuh"
#include "apps/transactions/ycsb.cuh"

#include <warden/deferred_several.cuh>

#include <memory>
#include <string>
#include <vector>

namespace transactions {

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm of that name, which is in `arm_names`. Throws limit_error for another name, and
/// cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, ycsb& on, arm_options const& o = {});

/// Returns the arm whose transactions are sections on several records, of which some are hot.
std::unique_ptr<arm> make_warden_arm(ycsb& on, arm_options const& o,
                                     warden::several_options const& hot);

}  // namespace transactions
