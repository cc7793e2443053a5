// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an allocation promises of the order of its places, and how many items a block takes at
/// once.
///
/// | contract | places | how |
/// |---|---|---|
/// | `unordered` | a block's follow one another; blocks' come as they come | one atomic a block |
/// | `ordered` | as a sequential loop gives them | blocks look back at those before them |
/// | `reduce_then_scan` | the same | counts are asked for twice: by sums, then with places |
#pragma once

#include <warden/simt/simt.cuh>

WARDEN_NAMESPACE_BEGIN

/// Places without an order between blocks: a block scan and one atomic add.
struct unordered {};
/// The places of a sequential loop, in one pass: D. Merrill, M. Garland, "Single-pass Parallel
/// Prefix Scan with Decoupled Look-back", 2016.
struct ordered {};
/// The places of a sequential loop, in three kernels: D. Merrill, "Allocation-oriented Algorithm
/// Design with Application to GPU Computing", 2011, section 4.3.
struct reduce_then_scan {};

/// How `allocate_async` gives places: by `Contract`, in blocks of `Threads` threads, each of which
/// takes `Items` items in a tile: best an odd number, so that lanes' items lie in different banks
/// of shared memory.
template <class Contract, unsigned Threads = 128, unsigned Items = 15>
struct allocation_policy {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  static_assert(Items >= 1 && Threads * Items <= 8192, "warden: a tile has 8,192 items at most");
  using contract = Contract;                         ///< what is promised
  static constexpr unsigned threads = Threads;       ///< of a block
  static constexpr unsigned items = Items;           ///< of a thread, in a tile
  static constexpr unsigned tile = Threads * Items;  ///< items of a tile
  /// Blocks that a multiprocessor can hold, at least: 64 registers a thread.
  static constexpr unsigned blocks = 1024 / Threads;
};
/// `unordered`, as tuned.
template <unsigned Threads = 128, unsigned Items = 15>
using unordered_allocation = allocation_policy<unordered, Threads, Items>;
/// `ordered`, as tuned: with larger tiles fewer blocks look back.
template <unsigned Threads = 256, unsigned Items = 19>
using ordered_allocation = allocation_policy<ordered, Threads, Items>;
/// `reduce_then_scan`, as tuned.
template <unsigned Threads = 128, unsigned Items = 15>
using reduce_then_scan_allocation = allocation_policy<reduce_then_scan, Threads, Items>;

WARDEN_NAMESPACE_END
