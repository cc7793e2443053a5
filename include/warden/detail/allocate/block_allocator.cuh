// SPDX-License-Identifier: Apache-2.0
/// @file
/// Allocates places for the threads of a block, within any kernel.
#pragma once

#include <warden/detail/allocate/contracts.cuh>
#include <warden/detail/allocate/tile_order.cuh>
#include <warden/simt/collective.cuh>

#include <cstdint>

WARDEN_NAMESPACE_BEGIN

/// Allocates places for the threads of a block of `Threads` threads, in any dimensions, under a
/// contract. Blocks with another number of threads get no places, which `wait` reports. After a
/// block barrier, `storage` may be reused.
template <unsigned Threads, class Contract = unordered>
class block_allocator;

/// Allocates without an order between blocks. In the kernel:
///
///     using allocator = warden::block_allocator<256>;
///     __shared__ allocator::storage storage;
///     allocator places{out.counter(), storage};
///     std::uint64_t place = places.allocate(count);  // all threads of the block together
///     for (unsigned k = 0; k < count; ++k) out.store(place + k, ...);
///
/// Within a call, the places of the threads are consecutive. One atomic for each call.
template <unsigned Threads>
class block_allocator<Threads, unordered> {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  using scan = simt::block_scan_by_warps<Threads, std::uint64_t>;

 public:
  /// Shared memory of the block; uninitialized.
  struct storage {
    typename scan::storage sums;  ///< used by the allocator
    std::uint64_t first;          ///< used by the allocator
  };

  /// Constructs an allocator. Collective over the block. `counter` is in device memory; `memory` is
  /// the same for the whole block.
  WARDEN_DEVICE block_allocator(std::uint64_t* counter, storage& memory)
      : counter_{counter}, memory_{memory} {}

  /// Returns the first of `count` places for the calling thread. Collective over the block.
  WARDEN_DEVICE std::uint64_t allocate(std::uint64_t count) {
    if (simt::block_threads() != Threads) {
      simt::fetch_max(counter_, detail::wrong_blocks_counted);
      return no_place;
    }
    std::uint64_t total;
    std::uint64_t const before =
        scan::exclusive_sum(memory_.sums, detail::summand_of(count), total);
    if (simt::thread_rank() == 0) {
      memory_.first = detail::checked_places(counter_, detail::take_places(counter_, total), total);
    }
    simt::sync_block();
    // The next call writes it after the barrier of its scan, to which all threads come.
    return memory_.first + before;
  }

 private:
  std::uint64_t* counter_;
  storage& memory_;
};

/// Allocates in order: first the places of tile 0's threads, then those of tile 1's, and so on. In
/// the kernel, for item i of n in tile i / 256, with `tiles` from `output<T>::tiles_async`:
///
///     using allocator = warden::block_allocator<256, warden::ordered>;
///     __shared__ allocator::storage storage;
///     allocator places{tiles, storage};
///     while (places.next_tile()) {  // all threads of the block together
///       std::uint64_t i = places.tile() * 256 + threadIdx.x;  // or another number of the thread
///       std::uint64_t place = places.allocate(i < n ? count(i) : 0);
///       ...
///     }
///
/// Any number of blocks take tiles until none is left. A tile for which its block does not call
/// `allocate` takes no places.
template <unsigned Threads>
class block_allocator<Threads, ordered> {
  static_assert(Threads % simt::warp_size == 0 && Threads >= 32 && Threads <= 1024,
                "warden: a block has 32 to 1,024 threads, a multiple of 32");
  using scan = simt::block_scan_by_warps<Threads, std::uint64_t>;

 public:
  /// Shared memory of the block; uninitialized.
  struct storage {
    typename scan::storage sums;  ///< used by the allocator
    std::uint64_t first;          ///< used by the allocator
    std::uint64_t tile;           ///< used by the allocator
  };

  /// Constructs an allocator. Collective over the block. Precondition: `order` outlives it.
  /// `memory` is the same for the whole block.
  WARDEN_DEVICE block_allocator(detail::tile_order const& order, storage& memory)
      : order_{order}, memory_{memory} {}
  /// Ends the last tile. Collective over the block, like every call: no thread of the block leaves
  /// before.
  WARDEN_DEVICE ~block_allocator() { close(); }
  block_allocator(block_allocator const&) = delete;
  block_allocator& operator=(block_allocator const&) = delete;

  /// Takes the next tile. Collective over the block. Returns false if there is none.
  WARDEN_DEVICE bool next_tile() {
    close();
    if (simt::block_threads() != Threads) {
      order_.note_wrong_block();
      return false;
    }
    if (tile_ >= order_.tiles()) return false;
    if (simt::thread_rank() == 0) memory_.tile = order_.take();
    simt::sync_block();
    // The tile is written again only after a call of `allocate`, in which all threads meet.
    tile_ = memory_.tile;
    is_open_ = tile_ < order_.tiles();
    return is_open_;
  }
  /// Returns the number of the tile, from 0 on.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t tile() const { return tile_; }

  /// Returns the first of `count` places for the calling thread. Collective over the block, once
  /// for each tile. A second call for a tile returns `no_place`, and `wait` reports it.
  WARDEN_DEVICE std::uint64_t allocate(std::uint64_t count) {
    if (!is_open_) {
      if (simt::thread_rank() == 0) order_.note_again();
      return no_place;
    }
    is_open_ = false;
    std::uint64_t total;
    std::uint64_t const before =
        scan::exclusive_sum(memory_.sums, detail::summand_of(count), total);
    if (total >= detail::too_many_places) total = no_place;
    if (simt::warp_rank() == 0) {
      bool const is_first = simt::lane_id() == 0;
      if (is_first) order_.announce(tile_, total);
      std::uint64_t const first = order_.first_place(tile_, total);
      if (is_first) memory_.first = first;
    }
    simt::sync_block();
    // The next call writes it after the barrier of its scan, to which all threads come.
    return memory_.first + before;
  }

 private:
  /// Ends an open tile without places, because other blocks wait for every tile that was taken.
  WARDEN_DEVICE void close() {
    if (is_open_) allocate(0);  // mutation: unclaimed-tile
  }

  detail::tile_order const& order_;
  storage& memory_;
  std::uint64_t tile_ = 0;
  bool is_open_ = false;
};

WARDEN_NAMESPACE_END
