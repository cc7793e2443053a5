// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loop of a fused kernel that sends sections stored in arrays.
#pragma once

#include <warden/detail/block/load_then_send.cuh>
#include <warden/detail/fused/virtual_block.cuh>
#include <warden/simt/simt.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN
namespace detail {

/// Distributes the numbers below `n` to the threads of the virtual grid. Each thread calls
/// `load(i)` for `AtOnce` of its numbers, then `send(i, loaded, valid)` for each of them. A thread
/// without a number left passes `valid` false and data without a value, so that all threads of a
/// block call `send` equally often. Loaded data stay in registers: `AtOnce` times their size
/// should leave room for the rest. Collective over the block. Does not flush. `records` is the ref
/// that `send` sends to.
template <unsigned AtOnce, class Ref, class Load, class Send>
WARDEN_DEVICE void load_then_send(virtual_block const& at, Ref const& /*records*/, std::uint64_t n,
                                  Load load, Send send) {
  // Each send may copy a buffer out. That code is so long that an unrolled loop would not fit the
  // instruction cache.
  constexpr bool rolled = Ref::outbox::sends_full_buffers;
  detail::load_then_send<AtOnce, rolled>(std::uint64_t{at.block_index()} * at.block_dim(),
                                         at.global_size(), n, at.thread_rank(), load, send);
}

}  // namespace detail
WARDEN_NAMESPACE_END
