// SPDX-License-Identifier: Apache-2.0
/// @file
/// Region: neighbouring vertices that a cluster of blocks discharges step by step.
#pragma once

#include "apps/max_flow/discharge.cuh"
#include "apps/max_flow/region_map.cuh"
#include "apps/max_flow/sections.cuh"
#include "apps/support/inboxes.cuh"

#include <cstddef>
#include <cstdint>

namespace max_flow {

/// Inboxes for pushes that cross a border: each block of each region's cluster has one, and runs
/// the pushes in it as the owner of its vertices. Pushes without room in an inbox go into a log.
struct region_borders {
  guarded::deferred_ref log;
  apps::inboxes_ref<push> inboxes;  ///< [region times blocks of a cluster, and the block's rank]
  std::uint32_t* full_in;           ///< set to 1 plus the iteration in which an inbox was full
  std::uint32_t const* at_border;   ///< [vertex / 32] bits: 1 if a neighbour is in another region
};

/// Counts of a block, and flags that other blocks set.
struct region_counts {
  std::uint32_t listed[2];  ///< [list modulo 2]
  std::uint32_t some[3];    ///< [step modulo 3] 1 if any block of the cluster has active vertices
  std::uint32_t leaving;
};

/// State of a block, in dynamic shared memory. Each vertex has one bit in each of these sets:
/// active in this step, active in the next step, risen in this iteration, waiting for the next
/// iteration, with a neighbour in another region. Pushes that leave the region are collected here,
/// because a step would wait for a place in an inbox.
struct region_memory {
  region_counts* counts;
  std::uint32_t* active[2];  ///< [step modulo 2]
  std::uint32_t* risen;
  std::uint32_t* waiting;
  std::uint32_t* border;
  std::uint32_t* list;  ///< places of active vertices
  push* leaving;

  /// Room for leaving pushes. Further ones are sent at once.
  static constexpr std::uint32_t most_leaving = simt::has_registers ? 1024 : 8;
  /// Room of the list. Further vertices are listed after it.
  static constexpr std::uint32_t most_listed = simt::has_registers ? 2048 : 8;

  static constexpr std::size_t bytes(std::size_t part) {
    return sizeof(region_counts) + part / 32 * 5 * sizeof(std::uint32_t) +
           most_listed * sizeof(std::uint32_t) + most_leaving * sizeof(push);
  }
  WARDEN_DEVICE static region_memory in(std::byte* memory, std::uint32_t part) {
    region_memory m;
    m.counts = reinterpret_cast<region_counts*>(memory);
    m.active[0] = reinterpret_cast<std::uint32_t*>(m.counts + 1);
    m.active[1] = m.active[0] + part / 32;
    m.risen = m.active[1] + part / 32;
    m.waiting = m.risen + part / 32;
    m.border = m.waiting + part / 32;
    m.list = m.border + part / 32;
    m.leaving = reinterpret_cast<push*>(m.list + most_listed);
    return m;
  }
  /// Initial state of a region. Fields written by other blocks start at 0, because those blocks may
  /// already have started. Collective over the block. A barrier of the cluster or the grid must
  /// follow.
  WARDEN_DEVICE void clear(std::uint32_t part) const {
    simt::sync_block();
    if (simt::thread_rank() == 0) {
      simt::shared_store(counts->listed[0], 0u);
      for (std::uint32_t& some : counts->some) simt::shared_store(some, 0u);
      simt::shared_store(counts->leaving, 0u);
    }
    for (std::uint32_t i = simt::thread_rank(); i < part / 32; i += simt::block_threads()) {
      simt::shared_store(active[1][i], 0u);
      simt::shared_store(risen[i], 0u);
      simt::shared_store(waiting[i], 0u);
    }
  }
};

/// Steps of a region. Each is like an iteration of the other arms: it reads one array of heights
/// and writes the other one, for active vertices. Other regions make their own steps in the same
/// iteration. A block reads heights of their vertices from the beginning of the iteration or later.
/// A vertex with a neighbour in another region rises at most once in an iteration, by at most two.
/// A vertex that pushes to it from another region is at least one above the height that it had.
///
/// A barrier of the cluster separates two steps. No block of the cluster reads a step's writes for
/// the next step before it. Blocks of other clusters use the values that they find.
class in_region : public in_an_iteration {
 public:
  /// Mostly all arcs of a row are processed together, because a step waits for the longest row.
  static constexpr unsigned lanes = 2, arcs_each = 6;

  WARDEN_DEVICE in_region(iteration const& r, region_borders const& borders,
                          region_memory const& mine, region_shape const& shape,
                          std::uint32_t region)
      : in_an_iteration{r},
        borders_{borders},
        mine_{mine},
        map_{shape, region},
        shape_{shape},
        region_{region},
        now_{r.state.heights_in(r.number)},
        next_{r.state.heights_in(r.number + 1)} {}

  /// Returns the height of any vertex. For vertices of other regions both arrays hold heights from
  /// the beginning of the iteration or later.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const {
    return simt::load_relaxed(&now_[v]);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t highest(std::uint32_t height) const {
    if (!is_set(mine_.border, place_)) return iteration_.network.vertices;
    return is_set(mine_.risen, place_) ? height : height + 2;  // mutation: flow-risen
  }
  WARDEN_DEVICE void send(push const& p) const {
    if (!map_.has(p.to)) return leave(p);
    receive(p);
    activate_next(map_.spot_of(p.to));
  }
  /// Returns true if excess is left. A thread that pushed to the vertex in between made it active.
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t pushed, std::uint64_t left) const {
    if (pushed != 0) simt::add(&iteration_.state.vertices[v].excess, 0 - pushed);
    return left != 0;
  }
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t before, std::uint32_t height,
                         bool is_active, bool waits) {
    simt::store_relaxed(&next_[v], height);
    std::uint32_t const bit = 1u << place_ % 32;
    if (height != before && !is_set(mine_.risen, place_)) {  // mutation: flow-levels
      simt::shared_set_bits(mine_.risen[place_ / 32], bit);
      simt::store_relaxed(&iteration_.state.risen_from[v], before);
    }
    if (is_active) activate_next({simt::cluster_rank(), place_});
    if (waits) simt::shared_set_bits(mine_.waiting[place_ / 32], bit);  // mutation: flow-waiting
  }

  /// Loads the active vertices, and receives the pushes that crossed the borders in the iteration
  /// before. No other block uses either in the first step. Collective over the block.
  WARDEN_DEVICE void begin() {
    for_words([&](std::uint32_t i, std::uint32_t word) {
      bool const is = word != nowhere;
      simt::shared_store(mine_.active[0][i], is ? iteration_.state.bits[word] : 0);
      simt::shared_store(mine_.border[i], is ? borders_.at_border[word] : 0);
    });
    simt::sync_block();
    unsigned const box = region_ * simt::cluster_size() + simt::cluster_rank();
    borders_.inboxes.take(iteration_.number, box, [&](push const& p) {
      receive(p);
      std::uint32_t const place = map_.spot_of(p.to).place;
      simt::shared_set_bits(mine_.active[0][place / 32], 1u << place % 32);
    });
  }
  /// Lists the block's active vertices, and tells the cluster if there are any. Returns the number
  /// of vertices in the list, at most `most_listed`. Collective over the block.
  WARDEN_DEVICE std::uint32_t begin_step() {
    region_counts& counts = *mine_.counts;
    std::uint32_t const n = next_list(now_active());
    if (n != 0 && simt::thread_rank() < simt::cluster_size())
      simt::cluster_store(counts.some[step_ % 3], simt::thread_rank(), 1u);
    if (simt::thread_rank() == 0) simt::shared_store(counts.some[(step_ + 1) % 3], 0u);
    return n;
  }
  /// Lists the next active vertices that the list before had no room for. Returns their number; 0
  /// at the end. Collective over the block.
  WARDEN_DEVICE std::uint32_t next_turn() { return next_turn(now_active()); }
  /// Returns vertex `i` of the list. The lane discharges it next.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t listed(std::uint32_t i) {
    place_ = simt::shared_load(mine_.list[i]);
    return vertex_at(place_);
  }
  /// Ends a step. Returns false if no vertex was active in it, and so none will be. Collective over
  /// the cluster.
  WARDEN_DEVICE bool end_step() {
    simt::sync_cluster();
    bool const goes_on = simt::shared_load(mine_.counts->some[step_ % 3]) != 0;
    ++step_;
    std::uint32_t* const heights = now_;
    now_ = next_;
    next_ = heights;
    return goes_on;
  }
  /// Ends the iteration after the last step. Sends pushes that leave the region to their owners,
  /// and records active and waiting vertices for the next iteration. The next iteration may read
  /// either array of heights, so active vertices, whose two heights may differ, get the last height
  /// in both. Adds the numbers of pushes and vertices to `count`. Collective over the block.
  WARDEN_DEVICE void end(std::uint64_t* count) {
    std::uint32_t const all = simt::shared_load(mine_.counts->leaving);
    std::uint32_t const n = all < mine_.most_leaving ? all : mine_.most_leaving;
    for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads()) {
      push const& p = mine_.leaving[i];
      send_across({simt::shared_load(p.to), simt::shared_load(p.arc), simt::shared_load(p.amount)});
    }
    std::uint32_t mine = simt::thread_rank() == 0 ? all : 0;
    for_words([&](std::uint32_t i, std::uint32_t word) {
      if (word == nowhere) return;
      std::uint32_t const active = simt::shared_load(now_active()[i]);
      std::uint32_t const marked = active | simt::shared_load(mine_.waiting[i]);
      iteration_.state.bits[word] = marked;
      mine += static_cast<std::uint32_t>(simt::count_bits(marked));
      simt::shared_store(mine_.waiting[i], active | simt::shared_load(mine_.risen[i]));
    });
    mine = simt::warp_sum(mine);
    if (simt::lane_id() == 0 && mine != 0) simt::add(count, std::uint64_t{mine});
    for (std::uint32_t some = next_list(mine_.waiting); some != 0;
         some = next_turn(mine_.waiting)) {
      for (std::uint32_t i = simt::thread_rank(); i < some; i += simt::block_threads()) {
        std::uint32_t const place = simt::shared_load(mine_.list[i]);
        std::uint32_t const v = vertex_at(place);
        std::uint32_t const height = simt::load_relaxed(&now_[v]);
        if (is_set(now_active(), place))
          simt::store_relaxed(&next_[v], height);  // mutation: flow-heights
        // Vertices per level are counted once per iteration, because a step would wait for atomics
        // on few words.
        if (is_set(mine_.risen, place))
          iteration_.note_height(simt::load_relaxed(&iteration_.state.risen_from[v]), height);
      }
    }
    mine_.clear(shape_.part);
  }

 private:
  using spot = region_map::spot;

  [[nodiscard]] WARDEN_DEVICE std::uint32_t vertex_at(std::uint32_t place) const {
    return map_.vertex_at(simt::cluster_rank(), place);
  }
  static constexpr std::uint32_t nowhere = 0xffffffff;
  /// Calls `f(i, word)` for a thread's share of the block's words of bits. `word` is the index of
  /// the same vertices' word in device memory, or `nowhere` after the network's end.
  template <class F>
  WARDEN_DEVICE void for_words(F f) const {
    for (std::uint32_t i = simt::thread_rank(); i < shape_.part / 32; i += simt::block_threads()) {
      std::uint32_t const v = vertex_at(i * 32);
      f(i, v < iteration_.network.vertices ? v / 32 : nowhere);
    }
  }
  WARDEN_DEVICE static bool is_set(std::uint32_t const* bits, std::uint32_t place) {
    return (simt::shared_load(bits[place / 32]) >> place % 32 & 1) != 0;
  }
  /// Lists the places of set bits, as many as there is room for, and clears these bits. Returns
  /// their number. Collective over the block.
  WARDEN_DEVICE std::uint32_t next_list(std::uint32_t* bits) {
    std::uint32_t& listed = mine_.counts->listed[turn_ % 2];
    for (std::uint32_t i = simt::thread_rank(); i < shape_.part / 32; i += simt::block_threads()) {
      std::uint32_t left = simt::shared_load(bits[i]);
      if (left == 0) continue;
      auto const n = static_cast<std::uint32_t>(simt::count_bits(left));
      std::uint32_t at = simt::shared_fetch_add(listed, n);
      for (; left != 0 && at < region_memory::most_listed; left &= left - 1) {
        simt::shared_store(mine_.list[at++],
                           i * 32 + static_cast<std::uint32_t>(simt::first_bit(left)));
      }
      simt::shared_store(bits[i], left);
    }
    simt::sync_block();
    std::uint32_t const all = simt::shared_load(listed);
    ++turn_;
    if (simt::thread_rank() == 0) simt::shared_store(mine_.counts->listed[turn_ % 2], 0u);
    has_more_ = all > region_memory::most_listed;
    return has_more_ ? region_memory::most_listed : all;
  }
  WARDEN_DEVICE std::uint32_t next_turn(std::uint32_t* bits) {
    if (!has_more_) return 0;
    simt::sync_block();
    return next_list(bits);
  }
  /// Makes a vertex active in the next step. Other blocks do so concurrently, so all blocks use the
  /// same kind of atomics, the owner too.
  WARDEN_DEVICE void activate_next(spot const& s) const {
    std::uint32_t* const next = step_ % 2 == 0 ? mine_.active[1] : mine_.active[0];
    simt::cluster_set_bits(next[s.place / 32], s.rank, 1u << s.place % 32);
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t* now_active() const {
    return step_ % 2 == 0 ? mine_.active[0] : mine_.active[1];
  }
  WARDEN_DEVICE void leave(push const& p) const {
    std::uint32_t const at = simt::shared_fetch_add(mine_.counts->leaving, 1u);
    if (at >= region_memory::most_leaving) return send_across(p);
    push& place = mine_.leaving[at];
    simt::shared_store(place.to, p.to);
    simt::shared_store(place.arc, p.arc);
    simt::shared_store(place.amount, p.amount);
  }
  /// Receives a push as a section on the other vertex: several of a block's threads may have pushes
  /// to one of its vertices.
  WARDEN_DEVICE void receive(push const& p) const {
    simt::add(&iteration_.state.arcs[p.arc].residual, p.amount);
    simt::add(&iteration_.state.vertices[p.to].excess, p.amount);
  }
  WARDEN_DEVICE void send_across(push const& p) const {
    send_to_owner(borders_, shape_, iteration_.number, p);
  }
  /// Sends a push to its owner. Takes it by value, because an object whose address is passed stays
  /// in local memory in the caller.
  WARDEN_COLD static void send_to_owner(region_borders const& borders, region_shape const& shape,
                                        std::uint32_t number, push p) {
    std::uint32_t const region = shape.region_of(p.to);
    region_map const there{shape, region};
    std::uint32_t const box = region * shape.cluster + there.spot_of(p.to).rank;
    if (borders.inboxes.put(number, box, p)) return;
    borders.log.send(p.to, max_flow::receive{p});
    simt::store_relaxed(borders.full_in, number + 1);
  }

  region_borders const& borders_;
  region_memory mine_;
  region_map map_;
  region_shape const& shape_;
  std::uint32_t region_;
  std::uint32_t *now_, *next_;  ///< heights of this step and the next one
  std::uint32_t step_ = 0;
  std::uint32_t turn_ = 0;   ///< number of lists made
  std::uint32_t place_ = 0;  ///< place of the vertex that is discharged
  bool has_more_ = false;    ///< true if the last list had no room for all vertices
};

}  // namespace max_flow
