// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pushes as deferred sections, for the two arms that send them.
#pragma once

#include "apps/max_flow/push.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

namespace max_flow {

/// Simulated threads are slow, so the simulated device has fewer.
using flow_policy = warden::policy<warden::options{.block_threads = simt::has_registers ? 256 : 32},
                                   warden::context<flow_state>>;
using guarded = warden::basic_guarded<flow_policy, vertex_state, receive>;
using push_log = warden::deferred<flow_policy, vertex_state, receive>;

/// Options of logs of pushes. An iteration has far fewer sections than a log has room for, so a
/// second sort, which would keep the excesses of each part in cache, is not worth a kernel.
inline constexpr warden::deferred_options in_place{.split = 1};

}  // namespace max_flow
