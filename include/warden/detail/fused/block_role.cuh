// SPDX-License-Identifier: Apache-2.0
/// @file
/// Role of each block of a launch: server or client.
#pragma once

#include <warden/detail/fused/launch_control.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Role of a block in this launch.
struct block_role {
  bool serves;
  std::uint32_t number;  ///< number among the servers, or among the client blocks
};

/// Claims the calling block's role. Called by one thread. Multiprocessor m offers its first blocks
/// as servers, as many as its share of all servers. A block whose preferred role is taken up gets
/// the other one. So each place is taken exactly once for any assignment of blocks to
/// multiprocessors: the spread affects speed, not correctness.
WARDEN_DEVICE block_role claim_role(launch_counters& counters, std::uint32_t servers,
                                    std::uint32_t client_blocks,
                                    std::uint64_t servers_per_multiprocessor) {
  std::uint32_t const m = simt::sm_id();
  // Rounded up, so that the last multiprocessor's running sum covers all servers.
  auto const servers_below = [&](std::uint32_t n) { return n * servers_per_multiprocessor >> 32; };
  auto const share = static_cast<std::uint32_t>(servers_below(m + 1) - servers_below(m));
  std::uint32_t const ticket =
      simt::fetch_add(&counters.tickets[m % launch_counters::multiprocessors], 1u);
  if (ticket < share) {
    std::uint32_t const number = simt::fetch_add(&counters.servers_claimed, 1u);
    if (number < servers) return {true, number};
    return {false, simt::fetch_add(&counters.clients_claimed, 1u)};
  }
  std::uint32_t const number = simt::fetch_add(&counters.clients_claimed, 1u);
  if (number < client_blocks) return {false, number};
  return {true, simt::fetch_add(&counters.servers_claimed, 1u)};
}

}  // namespace detail
WARDEN_NAMESPACE_END
