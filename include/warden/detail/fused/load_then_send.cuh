// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loop of a kernel of a fused launch that sends what lies in arrays.
#pragma once

#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Deals the numbers below `n` out to the threads of the virtual grid. Each thread calls `load(i)`
/// for `AtOnce` of its numbers, then `send(i, loaded, valid)` for each of them; `valid` is false,
/// and `loaded` another number's, where a thread has none left, so that all threads of a block call
/// `send` alike. What is loaded stays in registers: `AtOnce` times its size should leave room for
/// the rest. Collective over the block; flushes nothing. `records` is the ref that `send` sends to.
template <unsigned AtOnce, class Ref, class Load, class Send>
WARDEN_DEVICE void load_then_send(virtual_block const& at, Ref const& /*records*/, std::uint64_t n,
                                  Load load, Send send) {
  // Each send may copy a buffer out, which is so long that a copy of it for every element would not
  // fit the instruction cache.
  constexpr bool rolled = Ref::outbox::sends_full_buffers;
  detail::load_then_send<AtOnce, rolled>(std::uint64_t{at.block_index()} * at.block_dim(),
                                         at.global_size(), n, at.thread_rank(), load, send);
}

}  // namespace detail
WARDEN_NAMESPACE_END
