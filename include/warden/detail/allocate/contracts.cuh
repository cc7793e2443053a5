// SPDX-License-Identifier: Apache-2.0
/// @file
/// Contracts of allocations: the order of the places, and the items that a block takes at once.
///
/// - `unordered`: places of a block are consecutive, blocks come in any order. One atomic for each
/// block.
/// - `ordered`: places as a sequential loop assigns them. Each block looks back at earlier blocks.
/// - `reduce_then_scan`: places as a sequential loop assigns them. Counts are requested twice: for
/// sums, then for places.
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN

/// Places without an order between blocks: a block scan and one atomic add.
struct unordered {};
/// Places of a sequential loop, in one pass: D. Merrill, M. Garland, "Single-pass Parallel Prefix
/// Scan with Decoupled Look-back", 2016.
struct ordered {};
/// Places of a sequential loop, in three kernels: D. Merrill, "Allocation-oriented Algorithm Design
/// with Application to GPU Computing", 2011, section 4.3.
struct reduce_then_scan {};

/// Policy of `allocate_async`: the contract, and blocks of `Threads` threads, each of which takes
/// `Items` items in a tile. An odd number of items is best, because the lanes' items are then in
/// different banks of shared memory.
template <class Contract, unsigned Threads = 128, unsigned Items = 15>
struct allocation_policy {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  static_assert(Items >= 1 && Threads * Items <= 8192, "warden: a tile has at most 8,192 items");
  using contract = Contract;                         ///< order of the places
  static constexpr unsigned threads = Threads;       ///< threads of a block
  static constexpr unsigned items = Items;           ///< items of a thread in a tile
  static constexpr unsigned tile = Threads * Items;  ///< items of a tile
  /// Minimum of blocks that a multiprocessor can hold: 64 registers for each thread.
  static constexpr unsigned blocks = 1024 / Threads;
};
/// Policy `unordered`, as tuned.
template <unsigned Threads = 128, unsigned Items = 15>
using unordered_allocation = allocation_policy<unordered, Threads, Items>;
/// Policy `ordered`, as tuned: with larger tiles fewer blocks look back.
template <unsigned Threads = 256, unsigned Items = 19>
using ordered_allocation = allocation_policy<ordered, Threads, Items>;
/// Policy `reduce_then_scan`, as tuned.
template <unsigned Threads = 128, unsigned Items = 15>
using reduce_then_scan_allocation = allocation_policy<reduce_then_scan, Threads, Items>;

WARDEN_NAMESPACE_END
