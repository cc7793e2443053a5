// SPDX-License-Identifier: Apache-2.0
/// @file
/// The first half of a step, before ranks exchange bitmaps: a rank follows arcs, or looks for
/// parents.
#pragma once

#include "apps/breadth_first/cull.cuh"
#include "apps/breadth_first/gather.cuh"
#include "apps/breadth_first/owner_progress.cuh"
#include "apps/breadth_first/owner_queue.cuh"
#include "apps/breadth_first/owner_words.cuh"
#include "apps/breadth_first/progress.cuh"
#include "apps/breadth_first/visited_neighbour.cuh"

#include <warden/cuda_names.cuh>

#include <cstdint>

namespace breadth_first {

/// A block's part of it.
class owner_block {
 public:
  struct storage {
    gather_by_all::storage for_gather;
    owner_progress now;
    std::uint32_t chunk;  ///< chunk of the queue, to be followed next
    queue_sums::storage for_sums;
  };

  WARDEN_DEVICE owner_block(owner_state const& s, std::uint32_t step, storage& shared)
      : s_{s}, step_{step}, shared_{shared}, gather_{shared.for_gather} {}

  WARDEN_DEVICE void run() {
    if (simt::thread_rank() == 0) begin_step();
    simt::sync_block();
    switch (shared_.now.kind) {
      case owner_step::down:
        return go_down();
      case owner_step::up:
        return go_up();
      case owner_step::to_queue:
        return queue_level();
      default:
        return;
    }
  }

 private:
  /// Every block computes the same.
  WARDEN_DEVICE void begin_step() {
    owner_control& c = *s_.control;
    owner_progress now = c.progress[step_ % 2];
    add(now, c.sums[(step_ + 2) % 3]);
    choose(now, s_);
    shared_.now = now;
    if (simt::block_rank() != 0) return;
    c.progress[(step_ + 1) % 2] = now;
    c.sums[(step_ + 1) % 3] = {};  // mutation: owner-sums
  }

  // ---- top-down

  /// Each block begins with one chunk of the queue and takes others by ticket, so that no block
  /// waits for one that has more to do.
  WARDEN_DEVICE void go_down() {
    std::uint64_t const places = shared_.now.places;
    std::uint32_t const blocks = simt::block_count(), chunks = chunks_of(blocks);
    std::uint32_t* const taken = &s_.control->sums[(step_ + 2) % 3].taken;
    for (std::uint32_t chunk = simt::block_rank(); chunk < chunks;) {
      std::uint32_t ticket = 0;
      // Not waited for before the chunk has been followed.
      if (chunks > blocks && simt::thread_rank() == 0) ticket = simt::fetch_add(taken, 1u);
      // Neighbouring places belong to different chunks: they may be the parts of one long row.
      std::uint64_t const i = std::uint64_t{simt::thread_rank()} * chunks + chunk;
      gather_.start(i < places ? place::of(simt::load_flit(&s_.queue[i])) : place{0, 0, 0});
      some_arcs all;
      while (gather_.next(all)) visit(all);
      if (chunks <= blocks) break;
      // All threads have read the chunk before: they have met since, in `start`.
      if (simt::thread_rank() == 0) simt::shared_store(shared_.chunk, blocks + ticket);
      simt::sync_block();
      chunk = simt::shared_load(shared_.chunk);
    }
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t chunks_of(std::uint32_t blocks) const {
    owner_progress const& now = shared_.now;
    if (now.places == 0) return 0;
    std::uint64_t const by_places = (now.places + search_threads - 1) / search_threads;
    std::uint64_t const by_arcs = now.queued_arcs / arcs_of_a_chunk;
    std::uint64_t const most = by_places < by_arcs ? by_arcs : by_places;
    return most < blocks ? blocks : static_cast<std::uint32_t>(most);
  }
  /// Marks the vertices that some arcs lead to in the bitmap that is sent. A vertex that this rank
  /// has marked before is dropped. The owner of a vertex learns of it by its bit.
  WARDEN_DEVICE void visit(some_arcs const& all) {
    std::uint32_t v[arcs_at_once], words[arcs_at_once];
    bool found[arcs_at_once];
    std::uint32_t* const sent = s_.sent();
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k)
      v[k] = all.is_one[k] ? s_.out.neighbours[all.arc[k]] : 0;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k)
      words[k] = all.is_one[k] ? simt::load_relaxed(&sent[v[k] / 32]) : ~0u;
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) found[k] = (words[k] & bit_of(v[k])) == 0;
    cull_all::keep(sent, v, found);
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_at_once; ++k) {
      if (found[k]) note_parent(v[k], gather_.from(k));
    }
  }
  /// Writes the parent of a vertex that this thread has marked. For a vertex of another rank only
  /// if it is a hub: for others their owner looks.
  WARDEN_DEVICE void note_parent(std::uint32_t v, std::uint32_t parent) {
    std::uint32_t const own_place = v - s_.first();
    if (own_place < s_.places()) {
      simt::store_relaxed(&s_.parents[own_place], parent);
      return;
    }
    std::uint32_t const owner = v / s_.places(), at = v % s_.places();
    if (at >= s_.hubs) return;
    std::uint64_t const slot = std::uint64_t{owner} * s_.hubs + at;  // mutation: owner-hub
    simt::store_relaxed(&s_.hub_parents_of(s_.rank)[slot], parent);
  }

  // ---- bottom-up

  /// Unvisited vertices of this rank look for a parent, a warp for each word of 32.
  WARDEN_DEVICE void go_up() {
    std::uint32_t const* const seen = s_.seen_in(shared_.now.side);
    visited_neighbour const parents{s_.in.neighbours, seen};
    for_my_words([&](std::uint32_t w) { return ~seen[s_.first() / 32 + w]; },
                 [&](std::uint32_t w, std::uint32_t unvisited) {
                   std::uint32_t const at = w * 32 + simt::lane_id();
                   bool const looks = at < s_.owned && (unvisited >> simt::lane_id() & 1) != 0;
                   std::uint32_t const parent = parents.in(looks ? row_of(s_.in, at) : row{0, 0});
                   bool const found = parent != unreached;
                   unsigned const bits = simt::ballot(simt::full_warp, found);
                   if (bits == 0) return;
                   if (simt::lane_id() == 0)
                     simt::store_relaxed(&s_.sent()[s_.first() / 32 + w], ~unvisited | bits);
                   if (!found) return;
                   simt::store_relaxed(&s_.levels[at], shared_.now.level + 1);
                   simt::store_relaxed(&s_.parents[at], parent);
                 });
  }
  /// Queues this rank's vertices that the last level found.
  WARDEN_DEVICE void queue_level() {
    std::uint32_t const* const seen = s_.seen_in(shared_.now.side);
    std::uint32_t const* const before = s_.seen_in(1 - shared_.now.side);
    queue_sums sums{s_, s_.control->sums[step_ % 3], shared_.for_sums};
    std::uint32_t const first = s_.first() / 32;
    for_words(s_.words, [&](std::uint32_t w, bool is_one) {
      warp_bits const bits{is_one ? seen[first + w] & ~before[first + w] : 0};
      if (bits.count() == 0) return;
      std::uint64_t const reserved = sums.reserve(bits.count());
      bits.for_each([&](unsigned i, bool is_bit, warp_bits::bit const& bit) {
        std::uint32_t const at = simt::shuffle(simt::full_warp, w, bit.lane) * 32 + bit.number;
        sums.queue(reserved + i, at, is_bit);
      });
    });
    sums.add_up();
  }
  /// Calls `f(w, bits(w))` by all lanes of a warp, for each word `w` of this rank's vertices for
  /// which `bits(w)` is not 0. The lanes look at 32 words at once: most may be 0.
  template <class Bits, class F>
  WARDEN_DEVICE void for_my_words(Bits bits, F f) const {
    std::uint64_t const warps_of_block = simt::block_threads() / simt::warp_size;
    std::uint64_t const warps = simt::block_count() * warps_of_block;
    std::uint64_t const mine = simt::block_rank() * warps_of_block + simt::warp_rank();
    for (std::uint64_t first = mine; first < s_.words; first += warps * simt::warp_size) {
      std::uint64_t const at = first + simt::lane_id() * warps;
      std::uint32_t const own = at < s_.words ? bits(static_cast<std::uint32_t>(at)) : 0;
      unsigned left = simt::ballot(simt::full_warp, own != 0);
      while (left != 0) {
        auto const lane = static_cast<unsigned>(simt::first_bit(left));
        left &= left - 1;
        f(static_cast<std::uint32_t>(first + lane * warps),
          simt::shuffle(simt::full_warp, own, lane));
      }
    }
  }

  owner_state const& s_;
  std::uint32_t step_;
  storage& shared_;
  gather_by_all gather_;
};

}  // namespace breadth_first
