// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fused launch: one cooperative kernel in which some blocks serve and the others run the
/// user's virtual blocks. Also the policy of the dissertation.
#pragma once

#include <warden/detail/block/message_combiner.cuh>
#include <warden/detail/execute/guarded_access.cuh>
#include <warden/detail/execute/section_client.cuh>
#include <warden/detail/fused/apply_kernel.cuh>
#include <warden/detail/fused/block_client.cuh>
#include <warden/detail/fused/buffered_outbox.cuh>
#include <warden/detail/fused/channel.cuh>
#include <warden/detail/fused/forward_window.cuh>
#include <warden/detail/fused/forwarding_server.cuh>
#include <warden/detail/fused/future.cuh>
#include <warden/detail/fused/launch_plan.cuh>
#include <warden/detail/fused/pair_messages.cuh>
#include <warden/detail/fused/pair_messages_server.cuh>
#include <warden/detail/fused/paper/bitmask_channel.cuh>
#include <warden/detail/fused/paper/leader_server.cuh>
#include <warden/detail/fused/single_tag.cuh>
#include <warden/detail/fused/slice_server.cuh>
#include <warden/detail/fused/sorted_outbox.cuh>
#include <warden/detail/fused/thread_client.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/detail/fused/window_server.cuh>
#include <warden/guarded.cuh>
#include <warden/policy.cuh>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>

WARDEN_NAMESPACE_BEGIN

/// Runs `kernel(virtual_block, ref...)` for the virtual blocks 0 to grid - 1, with `block` threads
/// each, concurrently with the servers of one to four guarded arrays. All of it is one cooperative
/// launch in the stream. With a grid of 0 the kernel does not run.
///
/// Only enqueues: call `wait` on every guarded array to learn of errors. Throws limit_error when
/// the plan is impossible: `block` is not the policy's block_threads, the guarded arrays live on
/// different devices, the servers and one client block are not resident together, or the launch
/// needs more shared memory than a block can have. Throws cuda_error when the launch fails. If one
/// of the guarded arrays has a failure that its `wait` has not reported, nothing runs, and the
/// other guarded arrays report that. May be captured into a graph. Precondition: the guarded arrays
/// live as long as the graph.
template <class Kernel, class First, class... Rest>
void launch_fused(Kernel const& kernel, unsigned grid, unsigned block, located_stream in,
                  First& first, Rest&... rest) {
  runtime::device_scope const scope{first.device(), in.where};
  detail::launch_plan<Kernel, First, Rest...>{grid, block, in, first, rest...}.enqueue(
      kernel, first, rest...);
}
/// Launches with blocks of the size that the guarded arrays' policies say.
template <class Kernel, class First, class... Rest>
void launch_fused(Kernel const& kernel, unsigned grid, located_stream in, First& first,
                  Rest&... rest) {
  launch_fused(kernel, grid, First::policy::block_threads, in, first, rest...);
}

/// Makes the channels of guarded arrays that have none. `launch_fused` then only enqueues, and may
/// be captured into a graph. Blocks the host. Throws limit_error for an impossible plan and
/// cuda_error when memory is short. Thread-safe.
template <class... Guarded>
void prepare_fused(Guarded&... guarded) {
  (static_cast<void>(detail::guarded_access::fused(guarded)), ...);
}

namespace detail {
template <class Guarded, class Function>
void launch_apply(Guarded& to, index_range of, Function const& f, stream_ref s,
                  std::source_location where) {
  launch_fused(apply_kernel<Function>{f, of}, virtual_blocks_for<typename Guarded::ref>(of.count()),
               Guarded::policy::block_threads, {s, where}, to);
}
}  // namespace detail

/// The policy of [Wang 2020], kept for comparison: locks in shared memory (section 4.2.1), a
/// bit-mask separate from the messages (4.3.1), and the optimized sender and receiver (4.3.2),
/// which are buffers of 32 messages for each destination and a leader warp. `with_parts` adds a
/// context. Precondition: a block has at least two warps, and a client block has shared memory for
/// 32 messages to every server.
///
/// One leader feeds as many followers as a multiprocessor has registers for, at 96 registers for
/// each thread. Client blocks of 768 threads spill a little, and blocks of 1,024 threads more. One
/// block of 640 threads is the most that the registers allow. Every other multiprocessor hosts a
/// server, because no client block fits next to one of two servers on a multiprocessor.
using paper_policy =
    policy<options{
               .block_threads = 640,
               .tuning = {.minimum_blocks_per_multiprocessor = 1, .multiprocessors_per_server = 2}},
           executor::locks<4096, detail::leader_server>, readiness::bitmask, sender::buffered>;

WARDEN_NAMESPACE_END
