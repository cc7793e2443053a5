// SPDX-License-Identifier: Apache-2.0
/// @file
/// A round: every active vertex pushes its excess down, and rises if some is left. How a push
/// reaches the other vertex is the arm's affair, all else is the same for all.
#pragma once

#include "apps/max_flow/push.cuh"

#include <cstdint>

namespace max_flow {

/// Of a delivery: heights are those of the round's beginning.
class in_a_round {
 public:
  WARDEN_DEVICE explicit in_a_round(round const& r) : round_{r} {}

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

/// One vertex's round. A `Delivery` tells by what loads and stores the vertex gets at its own
/// residual capacities and excess: plain ones where nobody else is at them meanwhile.
///
/// Heights do not change during a round, and a push goes from a height to the next lower one: two
/// neighbours never push to each other in a round, so the arc that a push comes back by is changed
/// by that push alone.
template <class Delivery>
class discharge {
 public:
  /// Of vertex `v`, or of none.
  WARDEN_DEVICE discharge(round const& r, bool is, std::uint32_t v, Delivery& by)
      : round_{r}, by_{by}, v_{v}, is_{is} {
    if (!is) return;
    height_ = by.height(v);
    // One that was found to be cut off leaves the list: both its heights say so now.
    is_cut_off_ = height_ >= r.network.vertices;
    if (is_cut_off_) return;
    left_ = excess_ = by.excess(v);
    arc_ = r.network.offsets[v];
    end_ = r.network.offsets[v + 1];
    lowest_ = r.network.vertices;
  }

  /// The next push to a vertex, taken from the excess and the residual capacity of its arc. False
  /// if there are no more.
  WARDEN_DEVICE bool next(push& p) {
    while (true) {
      bool is_found = false;
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (is_found || amounts_[k] == 0) continue;
        p = {neighbours_[k], back_[k], amounts_[k]};
        amounts_[k] = 0;
        is_found = true;
      }
      pushes_ += is_found ? 1 : 0;
      if (is_found || arc_ >= end_) return is_found;
      look_ahead();
    }
  }

  /// After the last push: the height of the next round, and the place in it.
  WARDEN_DEVICE void end() {
    if (!is_) return;
    if (is_cut_off_) return by_.end(v_, height_, false);
    if (arrived_ != 0) simt::fetch_add(&round_.state.control->arrived, arrived_);
    bool const rises = left_ != 0 && lowest_ > height_;
    relabels_ += rises ? 1 : 0;
    // What others pushed here meanwhile counts, too. Who may neither push nor rise waits.
    bool const keeps = by_.keeps(v_, excess_ - left_);
    by_.end(v_, rises ? lowest_ : height_, keeps && (rises || left_ == 0));
  }

  [[nodiscard]] WARDEN_DEVICE unsigned pushes() const { return pushes_; }
  [[nodiscard]] WARDEN_DEVICE unsigned relabels() const { return relabels_; }

 private:
  /// Arcs looked at together: their loads do not wait for one another.
  static constexpr unsigned at_once = 4;

  WARDEN_DEVICE void look_ahead() {
    network const& net = round_.network;
    std::uint32_t residual[at_once], heights[at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint64_t const arc = arc_ + k < end_ ? arc_ + k : end_ - 1;
      neighbours_[k] = net.neighbours[arc];
      back_[k] = net.reverse[arc];
      residual[k] = by_.residual(arc);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) heights[k] = by_.height(neighbours_[k]);
    WARDEN_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      // A loop leads nowhere.
      if (arc_ + k >= end_ || neighbours_[k] == v_) continue;
      if (by_.is_elsewhere(neighbours_[k])) may_rise_to(by_.highest(v_));
      if (residual[k] == 0) {
        // Whoever may push along the arc back may do so now, and then finds this vertex no higher
        // than it could be with that.
        if (heights[k] == height_ + 1) may_rise_to(height_ + 2);
      } else if (left_ != 0 && heights[k] + 1 == height_) {
        push_along(k, arc_ + k, residual[k]);
      } else {
        may_rise_to(heights[k] + 1);
      }
    }
    arc_ += at_once;
  }

  /// A terminal's arcs are its neighbours' to change: nobody else ever does.
  WARDEN_DEVICE void push_along(unsigned k, std::uint64_t arc, std::uint32_t residual) {
    std::uint32_t const amount = left_ < residual ? static_cast<std::uint32_t>(left_) : residual;
    left_ -= amount;
    by_.set_residual(arc, residual - amount);
    if (round_.network.is_terminal(neighbours_[k])) {
      round_.state.residual[back_[k]] += amount;
      arrived_ += amount;
      ++pushes_;
    } else {
      amounts_[k] = amount;
    }
  }

  /// And no higher; the number of vertices is the height of those that are cut off.
  WARDEN_DEVICE void may_rise_to(std::uint32_t height) {
    if (height < lowest_) lowest_ = height;
  }

  round const& round_;
  Delivery& by_;
  std::uint32_t v_;
  bool is_;
  bool is_cut_off_ = false;
  std::uint32_t height_ = 0;
  std::uint32_t lowest_ = 0;  ///< where it may rise to
  std::uint64_t excess_ = 0;  ///< at the beginning
  std::uint64_t left_ = 0;    ///< of that
  std::uint64_t arrived_ = 0;
  std::uint64_t arc_ = 0, end_ = 0;
  std::uint32_t neighbours_[at_once], back_[at_once];
  std::uint32_t amounts_[at_once]{};  ///< not yet handed on
  unsigned pushes_ = 0, relabels_ = 0;
};

/// The active vertices of a block in a round: any one-dimensional grid of whole warps. Collective
/// as far as the delivery is: `by.any(mine)` tells whether anybody of those who send together still
/// has a push, and `by.send(p, mine)` sends those that are.
template <class Delivery>
WARDEN_DEVICE void discharge_share(round const& r, Delivery& by) {
  std::uint64_t const active = r.begin();
  unsigned pushes = 0, relabels = 0;
  std::uint64_t const step = std::uint64_t{simt::block_count()} * simt::block_threads();
  for (std::uint64_t first = std::uint64_t{simt::block_rank()} * simt::block_threads();
       first < active; first += step) {
    std::uint64_t const i = first + simt::thread_rank();
    bool const is = i < active;
    discharge<Delivery> vertex{r, is, is ? r.active()[i] : 0, by};
    while (true) {
      push p{};
      bool const mine = vertex.next(p);
      if (!by.any(mine)) break;
      by.send(p, mine);
    }
    vertex.end();
    pushes += vertex.pushes();
    relabels += vertex.relabels();
  }
  r.note_work(pushes, relabels);
}

}  // namespace max_flow
