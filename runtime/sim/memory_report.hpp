// SPDX-License-Identifier: Apache-2.0
// The memory report of the program: costs of the accesses of its warps, by lines of the source.
#pragma once

#include "warp_accesses.hpp"

#include <warden/simt/host_abi.hpp>

#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// Accesses of warps, and what they cost.
struct access_costs {
  std::uint64_t accesses = 0, conflicts = 0, sectors = 0, ideal_sectors = 0;
};
/// Adds accesses from one place. Only under `lock_device`.
void add_to_report(access_origin const& from, access_costs const& costs);

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
