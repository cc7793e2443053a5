// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pushes as deferred sections: what both arms that send them are made of.
#pragma once

#include "apps/max_flow/push.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

namespace max_flow {

struct flow_policy : warden::default_policy {
  using context = flow_state;
  /// A simulated thread is dear.
  static constexpr unsigned block_threads = simt::has_registers ? 256 : 32;
};
using guarded = warden::basic_guarded<flow_policy, vertex_state, receive>;
using push_log = warden::deferred<flow_policy, vertex_state, receive>;

/// How logs of pushes are run. An iteration has far fewer sections than a log has room for: sorting
/// them once more, so that the excesses of each part are cached, is not worth a kernel.
inline constexpr warden::deferred_options in_place{.split = 1};

}  // namespace max_flow
