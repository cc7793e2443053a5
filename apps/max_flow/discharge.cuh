// SPDX-License-Identifier: Apache-2.0
/// @file
/// A round: every active vertex pushes its excess down, and rises if some is left. How a push
/// reaches the other vertex is the arm's affair, all else is the same for all.
#pragma once

#include "apps/max_flow/push.cuh"

#include <cstdint>

namespace max_flow {

/// What the deliveries of a round have in common: heights are those of its beginning.
class in_a_round {
 public:
  WARDEN_DEVICE explicit in_a_round(round const& r) : round_{r} {}

  /// Lanes that share a vertex's row.
  static constexpr unsigned lanes = row_lanes;
  [[nodiscard]] WARDEN_DEVICE row arcs(std::uint32_t v) const { return row_of(round_.network, v); }
  WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const { return round_.heights()[v]; }
  /// All neighbours are alike.
  WARDEN_DEVICE static bool is_elsewhere(std::uint32_t) { return false; }
  WARDEN_DEVICE static std::uint32_t highest(std::uint32_t) { return 0; }
  /// The height of the next round, and whether the vertex is active in it.
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t height, bool is_active) const {
    std::uint32_t const before = round_.heights()[v];
    if (height != before) round_.note_height(before, height);
    round_.next_heights()[v] = height;
    if (is_active) activate(round_.state, round_.number + 1, v);
  }

 private:
  round const& round_;
};

/// One vertex's round, by some lanes, each of which looks at an arc at a time. A `Delivery` tells
/// how many, and by what loads and stores the vertex gets at its own residual capacities and
/// excess: plain ones where nobody else is at them meanwhile.
///
/// Heights do not change during a round, and a push goes from a height to the next lower one: two
/// neighbours never push to each other in a round, so the arc that a push comes back by is changed
/// by that push alone.
template <class Delivery>
class discharge {
 public:
  static constexpr unsigned lanes = Delivery::lanes;

  /// Begins with vertex `v`, or with none; the same for all its lanes. Collective over the warp.
  WARDEN_DEVICE discharge(round const& r, bool is, std::uint32_t v, Delivery& by)
      : round_{r}, by_{by}, v_{v}, is_{is}, lowest_{r.network.vertices} {
    if (is) height_ = by.height(v);
    // One that was found to be cut off leaves the list: both its heights say so now.
    bool const is_worked = is && !is_cut_off();
    // One load: others may add to it meanwhile.
    std::uint64_t const excess = is_worked && lane() == 0 ? by.excess(v) : 0;
    left_ = excess_ = simt::shuffle(simt::full_warp, excess, simt::lane_id() - lane());
    if (!is_worked) return;
    row const arcs = by.arcs(v);
    arc_ = arcs.begin;
    end_ = arcs.end;
    highest_ = by.highest(v);
  }

  /// Whether there are arcs that nobody has looked at.
  [[nodiscard]] WARDEN_DEVICE bool has_arcs() const { return arc_ < end_; }

  /// Looks at the next arcs, one for each lane. Returns whether this lane's is pushed along, to a
  /// vertex that is no terminal: the amount is taken from the excess and from the residual
  /// capacity. Collective over the warp.
  WARDEN_DEVICE bool next(push& p) {
    network const& net = round_.network;
    std::uint64_t const arc = arc_ + lane();
    bool const is = arc < end_;
    arc_ += lanes;
    std::uint32_t residual = 0, height = 0;
    if (is) {
      p.to = net.neighbours[arc];
      p.arc = net.reverse[arc];
      residual = by_.residual(arc);
      height = by_.height(p.to);
      // A loop leads nowhere.
      if (p.to != v_) look(p.to, residual, height);
    }
    p.amount = share(is && height + 1 == height_ ? residual : 0);
    if (p.amount == 0) return false;
    ++pushes_;
    by_.set_residual(arc, residual - p.amount);
    if (!net.is_terminal(p.to)) return true;
    // A terminal's arcs are its neighbours' to change: nobody else ever does. As an atomic, which
    // nobody waits for.
    simt::fetch_add(&round_.state.residual[p.arc], p.amount);
    arrived_ += p.amount;
    return false;
  }

  /// After the last arc: the height of the next round, and the place in it. Collective over the
  /// warp.
  WARDEN_DEVICE void end() {
    WARDEN_UNROLL
    for (unsigned other = 1; other < lanes; other *= 2)
      may_rise_to(simt::shuffle(simt::full_warp, lowest_, simt::lane_id() ^ other));
    if (!is_ || lane() != 0) return;
    if (is_cut_off()) return by_.end(v_, height_, false);
    bool const rises = left_ != 0 && lowest_ > height_;
    relabels_ += rises ? 1 : 0;
    // What others pushed here meanwhile counts, too. Who may neither push nor rise waits.
    bool const keeps = by_.keeps(v_, excess_ - left_);
    by_.end(v_, rises ? lowest_ : height_, keeps && (rises || left_ == 0));
  }

  /// What this lane did.
  [[nodiscard]] WARDEN_DEVICE work done() const { return {pushes_, relabels_, arrived_}; }

 private:
  WARDEN_DEVICE static unsigned lane() { return simt::lane_id() % lanes; }
  [[nodiscard]] WARDEN_DEVICE bool is_cut_off() const { return height_ >= round_.network.vertices; }

  /// Where an arc lets the vertex rise to, if it is not pushed along.
  WARDEN_DEVICE void look(std::uint32_t to, std::uint32_t residual, std::uint32_t height) {
    if (by_.is_elsewhere(to)) may_rise_to(highest_);
    if (residual != 0) {
      // Whoever has excess left has pushed along all that lead one lower.
      if (height + 1 != height_) may_rise_to(height + 1);
    } else if (height == height_ + 1) {
      // Whoever may push along the arc back may do so now, and then finds this vertex no higher
      // than it could be with that.
      may_rise_to(height_ + 2);
    }
  }

  /// This lane's share of the excess, of which earlier lanes take what they have room for.
  WARDEN_DEVICE std::uint32_t share(std::uint32_t room) {
    std::uint64_t sum = room;
    WARDEN_UNROLL
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
      unsigned const from = lane() < distance ? simt::lane_id() : simt::lane_id() - distance;
      std::uint64_t const before = simt::shuffle(simt::full_warp, sum, from);
      if (lane() >= distance) sum += before;
    }
    std::uint64_t const all = simt::shuffle(simt::full_warp, sum, simt::lane_id() | (lanes - 1));
    std::uint64_t const before = sum - room, had = left_;
    left_ -= all < left_ ? all : left_;
    if (before >= had) return 0;
    return had - before < room ? static_cast<std::uint32_t>(had - before) : room;
  }

  /// And no higher; the number of vertices is the height of those that are cut off.
  WARDEN_DEVICE void may_rise_to(std::uint32_t height) {
    if (height < lowest_) lowest_ = height;
  }

  round const& round_;
  Delivery& by_;
  std::uint32_t v_;
  bool is_;
  std::uint32_t height_ = 0;
  std::uint32_t lowest_;       ///< where it may rise to, as far as this lane knows
  std::uint32_t highest_ = 0;  ///< and if a neighbour is elsewhere
  std::uint64_t excess_ = 0;   ///< at the beginning
  std::uint64_t left_ = 0;     ///< of that
  std::uint64_t arrived_ = 0;
  std::uint64_t arc_ = 0, end_ = 0;  ///< alike for all lanes
  unsigned pushes_ = 0, relabels_ = 0;
};

/// The active vertices of a block in a round: any one-dimensional grid of whole warps. Collective
/// as far as the delivery is: `by.any(mine)` tells whether anybody of those who send together still
/// has arcs to look at, and `by.send(p, mine)` sends those that are.
template <class Delivery>
WARDEN_DEVICE void discharge_share(round const& r, Delivery& by) {
  std::uint64_t const active = r.begin();
  work done{};
  std::uint64_t const rows = simt::block_threads() / row_lanes;
  for (std::uint64_t first = simt::block_rank() * rows; first < active;
       first += simt::block_count() * rows) {
    std::uint64_t const i = first + simt::thread_rank() / row_lanes;
    bool const is = i < active;
    discharge<Delivery> vertex{r, is, is ? r.active()[i] : 0, by};
    while (by.any(vertex.has_arcs())) {
      push p{};
      bool const mine = vertex.next(p);
      by.send(p, mine);
    }
    vertex.end();
    done += vertex.done();
  }
  r.note_work(done);
}

/// Rounds as long as few vertices are active, by one block: a grid takes longer to start than such
/// a round takes. An even number of them, so that lists and heights stand where round `first` looks
/// for them. `delivery(r)` is that of round `r`. Collective over the block, the only one.
template <class Delivery>
WARDEN_DEVICE void discharge_few(round const& first, Delivery delivery) {
  constexpr std::uint64_t few = simt::has_registers ? 512 : 8;
  constexpr std::uint32_t most_rounds = simt::has_registers ? 24 : 6;
  control& c = *first.state.control;
  round r = first;
  std::uint64_t active = c.active[r.number % 3];
  while (active != 0 && active <= few && r.number - first.number < most_rounds) {
    WARDEN_NO_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      auto by = delivery(r);
      discharge_share(r, by);
      // What the round wrote is behind it: heights, excesses, the list of the next one.
      simt::sync_block();
      ++r.number;
    }
    active = c.active[r.number % 3];
  }
  if (r.number == first.number) return;
  // All have read it.
  simt::sync_block();
  if (simt::thread_rank() != 0) return;
  c.active[0] = c.active[1] = c.active[2] = 0;
  c.active[first.number % 3] = active;
}

}  // namespace max_flow
