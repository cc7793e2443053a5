// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fused launch: one cooperative kernel in which some blocks serve and the others run the
/// user's virtual blocks.
#pragma once

#include <warden/host/launch_plan.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

WARDEN_NAMESPACE_BEGIN

/// Runs `kernel(virtual_block, ref...)` for the virtual blocks 0 .. grid-1, `block` threads each,
/// beside the servers of the one to four guardeds, as one cooperative launch in the stream. Only
/// enqueues: call `wait` on every guarded to learn of errors. Throws limit_error when the plan is
/// impossible: `block` is not the policy's block_threads, the guardeds live on different devices,
/// the servers and one client block are not resident together, or more shared memory is needed than
/// a block can have; cuda_error when the launch fails. Where one of the guardeds has a failure that
/// its `wait` has not reported, nothing runs, and the others report that. May be captured into a
/// graph, with guardeds that live as long as the graph.
template <class Kernel, class First, class... Rest>
void launch_fused(Kernel const& kernel, unsigned grid, unsigned block, located_stream in,
                  First& first, Rest&... rest) {
  runtime::device_scope const scope{first.device(), in.where};
  detail::launch_plan<Kernel, First, Rest...>{grid, block, in, first, rest...}.enqueue(
      kernel, first, rest...);
}
/// Launches with blocks of as many threads as the guardeds' policies say.
template <class Kernel, class First, class... Rest>
void launch_fused(Kernel const& kernel, unsigned grid, located_stream in, First& first,
                  Rest&... rest) {
  launch_fused(kernel, grid, First::policy::block_threads, in, first, rest...);
}

WARDEN_NAMESPACE_END
