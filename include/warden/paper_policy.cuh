// SPDX-License-Identifier: Apache-2.0
/// @file
/// The paper configuration: the decoupled delegate as [Wang 2020, chapter 4] describes it.
#pragma once

#include <warden/detail/fused/paper/leader_server.cuh>
#include <warden/policy.cuh>

WARDEN_NAMESPACE_BEGIN

/// The policy of [Wang 2020], kept for comparison: locks in shared memory (section 4.2.1), a
/// bit-mask separate from the messages (4.3.1), and the optimized sender and receiver (4.3.2),
/// which are buffers of 32 messages for each destination and a leader warp. `with_parts` adds a
/// context. Precondition: a block has at least two warps, and a client block has shared memory for
/// 32 messages to every server.
using paper_policy =
    policy<options{// One leader feeds as many followers as a multiprocessor has registers for, at
                   // 96 registers
                   // for each thread. Client blocks of 768 threads spill a little, and blocks of
                   // 1,024 threads
                   // more.
                   .block_threads = 640,
                   .tuning =
                       {
                           // One such block is the most that the registers allow.
                           .minimum_blocks_per_multiprocessor = 1,
                           // Every other multiprocessor hosts a server. No client block fits next
                           // to one of two servers on a multiprocessor.
                           .multiprocessors_per_server = 2,
                       }},
           executor::locks<4096, detail::leader_server>, readiness::bitmask, sender::buffered>;

WARDEN_NAMESPACE_END
