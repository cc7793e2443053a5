// SPDX-License-Identifier: Apache-2.0
/// @file
/// The queue of a rank's part of a frontier, and sums of what a level found.
#pragma once

#include "apps/breadth_first/begin.cuh"
#include "apps/breadth_first/owner_state.cuh"
#include "apps/breadth_first/queue.cuh"

#include <cstdint>

namespace breadth_first {

/// A block's part of a step's sums, of which each thread has one. All blocks add by one atomic for
/// each number.
class queue_sums {
 public:
  struct storage {
    std::uint64_t vertices, arcs, queued_arcs;  ///< counts of the block
  };

  /// Collective over the block.
  WARDEN_DEVICE queue_sums(owner_state const& s, level_sums& to, storage& shared)
      : s_{s}, to_{to}, shared_{shared} {
    if (simt::thread_rank() == 0) {
      simt::shared_store(shared_.vertices, 0);
      simt::shared_store(shared_.arcs, 0);
      simt::shared_store(shared_.queued_arcs, 0);
    }
    simt::sync_block();
  }

  /// Counts vertices that this thread found, which about `arcs` arcs leave.
  WARDEN_DEVICE void note(std::uint32_t vertices, std::uint32_t arcs) {
    vertices_ += vertices;
    arcs_ += arcs;
  }
  /// Returns the first of `vertices` places of the queue, one for each vertex. Collective over the
  /// warp, which reserves them together.
  [[nodiscard]] WARDEN_DEVICE std::uint64_t reserve(unsigned vertices) const {
    std::uint64_t first = 0;
    if (simt::lane_id() == 0) first = simt::fetch_add(&to_.places, std::uint64_t{vertices});
    return simt::shuffle(simt::full_warp, first, 0);
  }
  /// Queues the vertex at place `at` if `is_one`: the first part of its row at the place of the
  /// queue that is reserved for it, other parts at further places. Collective over the warp.
  WARDEN_DEVICE void queue(std::uint64_t reserved, std::uint32_t at, bool is_one) {
    row const its = is_one ? row_of(s_.out, at) : row{0, 0};
    if (is_one) put(reserved, at, its, 0);
    queued_arcs_ += its.arcs;
    std::uint32_t const parts = places_of(its.arcs), further = parts > 1 ? parts - 1 : 0;
    if (!simt::any(simt::full_warp, further != 0)) return;
    std::uint64_t i = warden::allocate_in_warp(&to_.places, simt::full_warp, further);
    for (std::uint32_t p = 1; p < parts; ++p, ++i) put(i, at, its, p);
  }
  /// Adds the block's sums to those of the step. Collective over the block.
  WARDEN_DEVICE void add_up() {
    add_in_block(shared_.vertices, vertices_);
    add_in_block(shared_.arcs, arcs_);
    add_in_block(shared_.queued_arcs, queued_arcs_);
    simt::sync_block();
    if (simt::thread_rank() != 0) return;
    add_to(&to_.vertices, simt::shared_load(shared_.vertices));
    add_to(&to_.arcs, simt::shared_load(shared_.arcs));
    add_to(&to_.queued_arcs, simt::shared_load(shared_.queued_arcs));
  }

 private:
  WARDEN_DEVICE void put(std::uint64_t i, std::uint32_t at, row const& its,
                         std::uint32_t number) const {
    simt::store_flit(&s_.queue[i], part_of(s_.first() + at, its, number).words(), false);
  }
  WARDEN_DEVICE static void add_in_block(std::uint64_t& to, std::uint32_t mine) {
    if (!simt::any(simt::full_warp, mine != 0)) return;
    unsigned const of_warp = simt::warp_sum(mine);
    if (simt::lane_id() == 0) simt::shared_fetch_add(to, std::uint64_t{of_warp});
  }
  WARDEN_DEVICE static void add_to(std::uint64_t* to, std::uint64_t n) {
    if (n != 0) simt::add(to, n);
  }

  owner_state const& s_;
  level_sums& to_;
  storage& shared_;
  // Sums over all ranks fit 32 bits, as a graph has fewer than 2^32 arcs.
  std::uint32_t vertices_ = 0, arcs_ = 0, queued_arcs_ = 0;
};

}  // namespace breadth_first
