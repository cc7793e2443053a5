// SPDX-License-Identifier: Apache-2.0
/// @file
/// A region: neighbouring vertices whose excesses and heights a cluster of blocks holds on chip, a
/// part of them each block.
#pragma once

#include "apps/max_flow/discharge.cuh"
#include "apps/max_flow/sections.cuh"

#include <cstddef>
#include <cstdint>

namespace max_flow {

/// How networks are cut. A region's number is that of its first vertex by its size.
struct region_shape {
  std::uint32_t part;  ///< vertices of a block, a multiple of 32
  unsigned cluster;    ///< blocks

  [[nodiscard]] std::uint32_t size() const { return part * cluster; }
};

/// What the threads of a block count, and what others tell it.
struct region_counts {
  std::uint32_t listed[2];  ///< [step modulo 2]
  std::uint32_t some[3];    ///< [step modulo 3] whether any block of the cluster has listed some
  std::uint32_t leaving;
};

/// An excess, as the sum of `low`, and of `high` 2^16 times: two sums of halves, to which many add
/// at once, and none waits for a carry. In a step one amount below 2^32 comes along each of a
/// vertex's arcs at most, and all that ever comes is no more than each of their capacities: up to
/// 2^15 arcs neither sum leaves 32 bits.
struct split_excess {
  static constexpr std::uint32_t most_arcs = 1 << 15;

  std::uint32_t low, high;

  WARDEN_DEVICE static split_excess of(std::uint64_t amount) {
    return {static_cast<std::uint32_t>(amount & 0xffff), static_cast<std::uint32_t>(amount >> 16)};
  }
  [[nodiscard]] WARDEN_DEVICE std::uint64_t sum() const {
    return low + (std::uint64_t{high} << 16);
  }
};

/// What a block holds, in dynamic shared memory: for each vertex of its part its excess, two
/// heights that steps read in turn, as rounds do theirs, where its arcs begin, whether it is
/// active, and a place in the list of those that are. And pushes that leave the region: a step
/// would wait for the log to take them.
struct region_memory {
  region_counts* counts;
  split_excess* excess;
  std::uint32_t* heights[2];
  std::uint32_t* begins;   ///< and where those of the last one end; modulo 2^32
  std::uint32_t* bits[2];  ///< [step modulo 2] a bit for each vertex
  push* leaving;
  std::uint16_t* list;  ///< vertices by their places in the part

  /// Pushes that there is room for. More go into the log at once.
  static constexpr std::uint32_t most_leaving = simt::has_registers ? 1024 : 8;
  /// More would not be numbered by a half of a word; and `in_region::spot_of` knows no more.
  static constexpr std::uint32_t most_vertices = 1 << 14;

  static constexpr std::size_t bytes(std::size_t part) {
    return sizeof(region_counts) + part * (sizeof(split_excess) + 3 * sizeof(std::uint32_t)) +
           sizeof(std::uint32_t) + part / 4 + most_leaving * sizeof(push) +
           part * sizeof(std::uint16_t);
  }
  WARDEN_DEVICE static region_memory in(std::byte* memory, std::uint32_t part) {
    region_memory m;
    m.excess = reinterpret_cast<split_excess*>(memory);
    m.counts = reinterpret_cast<region_counts*>(m.excess + part);
    m.heights[0] = reinterpret_cast<std::uint32_t*>(m.counts + 1);
    m.heights[1] = m.heights[0] + part;
    m.begins = m.heights[1] + part;
    m.bits[0] = m.begins + part + 1;
    m.bits[1] = m.bits[0] + part / 32;
    m.leaving = reinterpret_cast<push*>(m.bits[1] + part / 32);
    m.list = reinterpret_cast<std::uint16_t*>(m.leaving + most_leaving);
    return m;
  }
};

/// A step within a region: as a round, with atomics on chip. Vertices elsewhere are seen as they
/// were when the round began, and whoever has such a neighbour rises no further in the round than
/// one above where that one may push from: it does so from one above the height that it saw, at
/// least.
///
/// Between two steps all blocks of the cluster meet. What a step writes for the next one, in its
/// own memory and in others', is in words that nobody reads before that.
class in_region {
 public:
  WARDEN_DEVICE in_region(round const& r, guarded::deferred_ref const& to,
                          region_memory const& mine, std::uint32_t part, std::uint32_t first)
      : round_{r},
        to_{to},
        mine_{mine},
        part_{part},
        reciprocal_{0xffffffffu / part + 1},
        first_{first},
        own_{first + simt::cluster_rank() * part} {}

  /// Mostly all of a row at once: a step waits for the longest one, and has few.
  static constexpr unsigned lanes = 4, arcs_each = 4;
  /// (A row of 2^32 arcs is one of loops, which lead nowhere.)
  [[nodiscard]] WARDEN_DEVICE row arcs(std::uint32_t v) const {
    std::uint32_t const begin = simt::shared_load(mine_.begins[v - own_]);
    return {begin, begin + std::uint64_t{simt::shared_load(mine_.begins[v - own_ + 1]) - begin}};
  }
  WARDEN_DEVICE bool is_elsewhere(std::uint32_t v) const {
    return !is_here(v) && !round_.network.is_terminal(v);
  }
  WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const {
    // One load on either way: those of several arcs do not wait for one another.
    std::uint32_t const* place = &round_.heights()[v];
    if (is_here(v)) {
      spot const s = spot_of(v);
      place = simt::cluster_address(heights()[s.place], s.rank);
    }
    return simt::load_anywhere(place);
  }
  WARDEN_DEVICE std::uint32_t highest(std::uint32_t v) const { return round_.heights()[v] + 2; }
  /// Takes it: what is left is given back in the end.
  WARDEN_DEVICE std::uint64_t excess(std::uint32_t v) const {
    split_excess& place = mine_.excess[v - own_];
    return split_excess{simt::cluster_exchange(place.low, 0), simt::cluster_exchange(place.high, 0)}
        .sum();
  }
  WARDEN_DEVICE std::uint32_t residual(std::uint64_t arc) const {
    return simt::load_relaxed(&round_.state.residual[arc]);
  }
  WARDEN_DEVICE void set_residual(std::uint64_t arc, std::uint32_t value) const {
    simt::store_relaxed(&round_.state.residual[arc], value);
  }
  WARDEN_DEVICE void send(push const& p) const {
    if (!is_here(p.to)) return leave(p);
    simt::fetch_add(&round_.state.residual[p.arc], p.amount);
    spot const s = spot_of(p.to);
    add(s, p.amount);
    activate_next(s);
  }
  /// Whoever pushed to it meanwhile made it active.
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t, std::uint64_t left) const {
    if (left != 0) add({simt::cluster_rank(), v - own_}, left);
    return left != 0;
  }
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t height, bool is_active) const {
    simt::shared_store(next_heights()[v - own_], height);
    if (is_active) activate_next({simt::cluster_rank(), v - own_});
  }

  /// By one thread, before the first step.
  WARDEN_DEVICE void begin() const {
    simt::shared_store(mine_.counts->listed[0], 0u);
    simt::shared_store(mine_.counts->some[0], 0u);
    simt::shared_store(mine_.counts->leaving, 0u);
  }
  /// Makes a list of the part's active vertices, and tells the cluster if there are any. Returns
  /// how many. Collective over the block.
  WARDEN_DEVICE std::uint32_t begin_step() const {
    region_counts& counts = *mine_.counts;
    for (std::uint32_t i = simt::thread_rank(); i < part_ / 32; i += simt::block_threads()) {
      std::uint32_t& word = step_ % 2 == 0 ? mine_.bits[0][i] : mine_.bits[1][i];
      std::uint32_t left = simt::shared_load(word);
      if (left == 0) continue;
      simt::shared_store(word, 0u);
      auto const n = static_cast<std::uint32_t>(simt::count_bits(left));
      std::uint32_t at = simt::shared_fetch_add(counts.listed[step_ % 2], n);
      for (; left != 0; left &= left - 1)
        mine_.list[at++] = static_cast<std::uint16_t>(i * 32 + simt::first_bit(left));
    }
    simt::sync_block();
    std::uint32_t const n = simt::shared_load(counts.listed[step_ % 2]);
    if (n != 0 && simt::thread_rank() < simt::cluster_size())
      simt::cluster_store(counts.some[step_ % 3], simt::thread_rank(), 1u);
    if (simt::thread_rank() == 0) {
      simt::shared_store(counts.listed[(step_ + 1) % 2], 0u);
      simt::shared_store(counts.some[(step_ + 1) % 3], 0u);
    }
    return n;
  }
  [[nodiscard]] WARDEN_DEVICE std::uint32_t listed(std::uint32_t i) const {
    return own_ + mine_.list[i];
  }
  /// Ends a step. False if nobody was active in it, and so nobody will be. Collective over the
  /// cluster.
  WARDEN_DEVICE bool end_step() {
    simt::sync_cluster();
    bool const goes_on = simt::shared_load(mine_.counts->some[step_ % 3]) != 0;
    ++step_;
    return goes_on;
  }
  /// Behind the last step: what leaves the region goes into the log.
  WARDEN_DEVICE void send_leaving() const {
    std::uint32_t const all = simt::shared_load(mine_.counts->leaving);
    std::uint32_t const n = all < mine_.most_leaving ? all : mine_.most_leaving;
    for (std::uint32_t i = simt::thread_rank(); i < n; i += simt::block_threads()) {
      push const& p = mine_.leaving[i];
      std::uint32_t const to = simt::shared_load(p.to);
      to_.send(to, receive{{to, simt::shared_load(p.arc), simt::shared_load(p.amount)}});
    }
  }
  /// Of this step: a vertex's two heights are the same unless it rose in the last one.
  WARDEN_DEVICE std::uint32_t* heights() const {
    return step_ % 2 == 0 ? mine_.heights[0] : mine_.heights[1];
  }

 private:
  /// Where a vertex of the region is.
  struct spot {
    unsigned rank;
    std::uint32_t place;
  };
  /// A quotient by a product: right as long as 16 parts of `most_vertices` are all there is.
  WARDEN_DEVICE spot spot_of(std::uint32_t v) const {
    unsigned const rank = simt::multiply_high(v - first_, reciprocal_);
    return {rank, v - first_ - rank * part_};
  }
  WARDEN_DEVICE void add(spot const& s, std::uint64_t amount) const {
    split_excess const parts = split_excess::of(amount);
    split_excess& place = mine_.excess[s.place];
    if (parts.low != 0) simt::cluster_add(place.low, s.rank, parts.low);
    if (parts.high != 0) simt::cluster_add(place.high, s.rank, parts.high);
  }
  WARDEN_DEVICE void activate_next(spot const& s) const {
    simt::cluster_set_bits(next_bits()[s.place / 32], s.rank, 1u << s.place % 32);
  }
  WARDEN_DEVICE bool is_here(std::uint32_t v) const {
    return v - first_ < round_.state.region_size;
  }
  WARDEN_DEVICE void leave(push const& p) const {
    std::uint32_t const at = simt::shared_fetch_add(mine_.counts->leaving, 1u);
    if (at >= mine_.most_leaving) return send_now(to_, p);
    push& place = mine_.leaving[at];
    simt::shared_store(place.to, p.to);
    simt::shared_store(place.arc, p.arc);
    simt::shared_store(place.amount, p.amount);
  }
  WARDEN_COLD static void send_now(guarded::deferred_ref const& to, push p) {
    to.send(p.to, receive{p});
  }
  WARDEN_DEVICE std::uint32_t* next_heights() const {
    return step_ % 2 == 0 ? mine_.heights[1] : mine_.heights[0];
  }
  WARDEN_DEVICE std::uint32_t* next_bits() const {
    return step_ % 2 == 0 ? mine_.bits[1] : mine_.bits[0];
  }

  round const& round_;
  guarded::deferred_ref const& to_;
  region_memory mine_;
  std::uint32_t part_, reciprocal_;
  std::uint32_t first_;  ///< vertex of the region
  std::uint32_t own_;    ///< first vertex of the part
  std::uint32_t step_ = 0;
};

}  // namespace max_flow
