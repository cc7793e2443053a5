// SPDX-License-Identifier: Apache-2.0
/// @file
/// Iteration: every active vertex pushes its excess down, and rises if some is left. The arm
/// delivers the pushes; all other steps are the same for all arms.
#pragma once

#include "apps/max_flow/push.cuh"

#include <cstdint>

namespace max_flow {

/// Common part of the deliveries of an iteration. Heights are those at the beginning of the
/// iteration.
class in_an_iteration {
 public:
  WARDEN_DEVICE explicit in_an_iteration(iteration const& r) : iteration_{r} {}

  /// Number of lanes that share a vertex's row, and of arcs that a lane loads together.
  static constexpr unsigned lanes = row_lanes, arcs_each = 1;
  /// Load a vertex or an arc while other threads may push to it.
  WARDEN_DEVICE static vertex_state load(vertex_state const& v) { return load_vertex(v); }
  WARDEN_DEVICE static arc load(arc const& a) { return load_arc(a); }
  WARDEN_DEVICE static void set_residual(arc& a, std::uint32_t value) {
    simt::store_relaxed(&a.residual, value);
  }
  WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const { return iteration_.heights()[v]; }
  /// Returns the height that the discharged vertex may rise to at most, in addition to the limits
  /// by its arcs.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t highest(std::uint32_t) const {
    return iteration_.network.vertices;
  }
  /// Sets the vertex's height of the next iteration, which was `before` in this one, and makes the
  /// vertex active in the next iteration if `is_active`. `waits`: the vertex has excess but is not
  /// active.
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t before, std::uint32_t height,
                         bool is_active, bool /*waits*/) const {
    if (height != before) iteration_.note_height(before, height);
    iteration_.next_heights()[v] = height;
    if (is_active) activate(iteration_.state, iteration_.number + 1, v);
  }

 protected:
  iteration const& iteration_;
};

/// Order in which a vertex pushes along `Lanes` times `Each` consecutive arcs of its row; each lane
/// has `Each` of them, and lane 0 is first. If vertices always pushed along the first arcs of a
/// row, whose ends have the lowest numbers, excess would drift to one corner of the network. So the
/// order depends on vertex and height, and neighbouring arcs do not follow each other.
template <unsigned Lanes, unsigned Each>
class arc_order {
  static_assert(Lanes <= 8 && (Each == 1 || Each >= 4));

 public:
  WARDEN_HOST_DEVICE arc_order(std::uint32_t v, std::uint32_t height)
      : turn_{(v * 0x9e3779b1u + height * 0x85ebca6bu) >> 27} {}

  /// Returns the place of the `k`-th arc of `lane`.
  [[nodiscard]] WARDEN_HOST_DEVICE unsigned at(unsigned lane, unsigned k) const {
    unsigned const place = lane ^ (turn_ / 4 & (Lanes - 1));
    unsigned const later = Each == 1 ? 0 : k + turn_ % 4;
    return place % (Lanes / 2) * 2 + place / (Lanes / 2) +
           (later < Each ? later : later - Each) * Lanes;
  }

 private:
  std::uint32_t turn_;
};

/// Discharge of one vertex in an iteration, by some lanes that each load some arcs at a time. A
/// `Delivery` states both numbers, and the loads and stores of the vertex's own residual capacities
/// and excess. They are plain if no other thread uses these values concurrently.
///
/// Heights do not change during an iteration, and a push goes from a height to the next lower one.
/// So two neighbours never push to each other in one iteration, and only a push along an arc
/// changes its reverse arc.
template <class Delivery>
class discharge {
 public:
  static constexpr unsigned lanes = Delivery::lanes, arcs_each = Delivery::arcs_each;

  /// Begins with vertex `v`, or with none; the same for all lanes of the vertex. Adds the lane's
  /// work to `done`. Collective over the warp.
  WARDEN_DEVICE discharge(iteration const& r, bool is, std::uint32_t v, Delivery& by, work& done)
      : iteration_{r}, delivery_{by}, done_{done}, v_{v}, is_{is}, lowest_{r.network.vertices} {
    vertex_state own{};
    if (is) {
      height_ = by.height(v);
      own = by.load(r.state.vertices[v]);
      may_rise_to(by.highest(height_));
    }
    // One lane loads the excess, because other threads may add to it.
    left_ = excess_ = simt::shuffle(simt::full_warp, own.excess, simt::lane_id() - lane());
    // A vertex that was cut off leaves the list; both of its heights say so now. A vertex whose
    // excess was pushed on in the iteration in which it arrived leaves the list too.
    if (is_cut_off() || excess_ == 0) return;
    first_ = own.arcs.first;
    n_ = own.arcs.number;
  }

  /// Returns true if arcs of the vertex are left. A row of 2^32 arcs has only loops and counts as
  /// empty.
  [[nodiscard]] WARDEN_DEVICE bool has_arcs() const { return next_arc_ < n_; }

  /// Pushes along the next arcs, `arcs_each` per lane. Calls `send(p, mine)`; `mine` is true if the
  /// lane pushes along its arc to a vertex that is no terminal. With one arc per lane, all lanes
  /// call it together once. With more, each lane calls it independently for each of its pushes. The
  /// amount has been subtracted from the excess and the residual capacity. Collective over the
  /// warp.
  template <class Send>
  WARDEN_DEVICE void next(Send send) {
    std::uint32_t const left = n_ - next_arc_;
    arc_order<lanes, arcs_each> const order{v_, height_};
    auto const at = [&](unsigned k) { return order.at(lane(), k); };
    std::uint32_t const first = first_ + next_arc_;
    next_arc_ += left < arcs_each * lanes ? left : arcs_each * lanes;
    push pushes[arcs_each]{};
    std::uint32_t residual[arcs_each]{}, height[arcs_each]{};
    auto const is = [&](unsigned k) { return at(k) < left; };
    // All loads are issued before any result is used, except for heights of vertices to which
    // nothing can be pushed, which are not worth a load each.
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      if (!is(k)) continue;
      arc const a = delivery_.load(iteration_.state.arcs[first + at(k)]);
      pushes[k].to = a.ends.to;
      pushes[k].arc = a.ends.back;
      residual[k] = a.residual;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      if (residual[k] != 0) height[k] = delivery_.height(pushes[k].to);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      // A loop does not bound the height.
      look(is(k) && pushes[k].to != v_, pushes[k].to, residual[k], height[k]);
      pushes[k].amount = height[k] + 1 == height_ ? residual[k] : 0;
    }
    share(pushes);
    if constexpr (arcs_each == 1) {
      send(pushes[0], take(pushes[0], first + at(0), residual[0]));
    } else {
      // A lane mostly pushes along one or two arcs. Each lane sends its next push in each iteration
      // of the loop.
      unsigned left_to_send = 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_each; ++k)
        left_to_send |= (pushes[k].amount != 0 ? 1u : 0) << k;
      WARDEN_NO_UNROLL
      for (; left_to_send != 0; left_to_send &= left_to_send - 1) {
        auto const next = static_cast<unsigned>(simt::first_bit(left_to_send));
        push p = pushes[0];
        std::uint32_t had = residual[0];
        WARDEN_UNROLL
        for (unsigned k = 1; k < arcs_each; ++k) {
          p = k == next ? pushes[k] : p;
          had = k == next ? residual[k] : had;
        }
        send(p, take(p, first + at(next), had));
      }
    }
  }

  /// Ends the discharge after the last arc: sets the height of the next iteration, and makes the
  /// vertex active in it. Collective over the warp.
  WARDEN_DEVICE void end() {
    WARDEN_UNROLL
    for (unsigned other = 1; other < lanes; other *= 2)
      may_rise_to(simt::shuffle(simt::full_warp, lowest_, simt::lane_id() ^ other));
    if (!is_ || lane() != 0) return;
    if (is_cut_off() || excess_ == 0) return delivery_.end(v_, height_, height_, false, false);
    // A vertex with excess left has pushed along all arcs that lead one lower. The exception is a
    // vertex with more excess than it may push at once, which stays active.
    bool const has_more = left_ != 0;
    bool const rises = has_more && !goes_on_ && lowest_ > height_;
    done_.relabels += rises ? 1 : 0;
    // Flow that other vertices pushed here in this iteration counts too. A vertex that can neither
    // push nor rise waits.
    bool const keeps = delivery_.keeps(v_, excess_ - left_, left_);
    bool const waits = has_more && !goes_on_ && !rises;
    delivery_.end(v_, height_, rises ? lowest_ : height_, keeps && !waits, waits);
  }

 private:
  WARDEN_DEVICE static unsigned lane() { return simt::lane_id() % lanes; }
  [[nodiscard]] WARDEN_DEVICE bool is_cut_off() const {
    return height_ >= iteration_.network.vertices;
  }

  /// Lowers the height that the vertex may rise to by the bound of an arc, unless the vertex pushes
  /// along it.
  WARDEN_DEVICE void look(bool leads, std::uint32_t to, std::uint32_t residual,
                          std::uint32_t height) {
    constexpr std::uint32_t anywhere = 0xffffffff;
    // If the arc is full, a neighbour one higher may push along the reverse arc concurrently and
    // give it residual capacity. The bound keeps this vertex as low as that residual capacity
    // would.
    bool const has_room = residual != 0, is_terminal = iteration_.network.is_terminal(to);
    std::uint32_t const bound = has_room ? height + 1 : height_ + 2;
    bool const bounds = has_room ? height + 1 != height_ : !is_terminal;
    may_rise_to(leads && bounds ? bound : anywhere);
  }

  /// Distributes the excess to the lanes' arcs: replaces their amounts, which are their residual
  /// capacities, by pushes, earlier lanes first. The sum is below 2^32, because sums of 32 bits
  /// take half the time of 64, and is capped at the excess.
  WARDEN_DEVICE void share(push (&pushes)[arcs_each]) {
    unsigned const leader = simt::lane_id() - lane();
    constexpr std::uint32_t most = 0xffffffff;
    std::uint32_t const had = left_ < most ? static_cast<std::uint32_t>(left_) : most;
    auto const up_to_had = [&](std::uint32_t one, std::uint32_t other) {
      return one < had - other ? one + other : had;
    };
    std::uint32_t sum = 0;
    WARDEN_UNROLL
    for (push const& p : pushes) sum = up_to_had(p.amount, sum);
    WARDEN_UNROLL
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
      unsigned const from = lane() < distance ? simt::lane_id() : simt::lane_id() - distance;
      std::uint32_t const before = simt::shuffle(simt::full_warp, sum, from);
      if (lane() >= distance) sum = up_to_had(before, sum);
    }
    std::uint32_t const all = simt::shuffle(simt::full_warp, sum, leader + lanes - 1);
    left_ -= all;
    goes_on_ |= all == most && left_ != 0;  // mutation: flow-goes-on
    unsigned const from = lane() == 0 ? leader : simt::lane_id() - 1;
    std::uint32_t const before = simt::shuffle(simt::full_warp, sum, from);
    std::uint32_t left = lane() == 0 ? sum : sum - before;
    WARDEN_UNROLL
    for (push& p : pushes) {
      if (p.amount > left) p.amount = left;
      left -= p.amount;
    }
  }
  /// Subtracts a push along an arc from its residual capacity. Returns true if the push has to be
  /// sent to another vertex, and false if there is none or its end is a terminal.
  WARDEN_DEVICE bool take(push const& p, std::uint32_t along, std::uint32_t residual) {
    if (p.amount == 0) return false;
    ++done_.pushes;
    delivery_.set_residual(iteration_.state.arcs[along], residual - p.amount);
    if (!iteration_.network.is_terminal(p.to)) return true;
    // Only neighbours change a terminal's arcs, by atomics whose result is not waited for.
    simt::add(&iteration_.state.arcs[p.arc].residual, p.amount);
    done_.arrived += p.amount;
    return false;
  }

  /// Lowers the height that the vertex may rise to. Vertices that are cut off have the number of
  /// vertices as height.
  WARDEN_DEVICE void may_rise_to(std::uint32_t height) {
    if (height < lowest_) lowest_ = height;
  }

  iteration const& iteration_;
  Delivery& delivery_;
  work& done_;
  std::uint32_t v_;
  bool is_;
  std::uint32_t height_ = 0;
  std::uint32_t lowest_;      ///< height that it may rise to by this lane's arcs
  std::uint64_t excess_ = 0;  ///< excess at the beginning
  std::uint64_t left_ = 0;    ///< excess that is left
  bool goes_on_ = false;      ///< true if there may be room for the excess that is left
  std::uint32_t first_ = 0;   ///< first arc
  std::uint32_t n_ = 0,
                next_arc_ = 0;  ///< number of arcs, and of arcs done; the same for all lanes
};

/// Discharges the block's share of the active vertices of an iteration. Grid: one-dimensional, of
/// whole warps. Collective over the threads that the delivery lets send together: `by.any(mine)`
/// returns true if any of them has arcs left, and `by.send(p, mine)` sends their pushes.
template <class Delivery>
WARDEN_DEVICE void discharge_share(iteration const& r, Delivery& by) {
  std::uint64_t const active = r.begin();
  work done{};
  std::uint64_t const rows = simt::block_threads() / row_lanes;
  for (std::uint64_t first = simt::block_rank() * rows; first < active;
       first += simt::block_count() * rows) {
    std::uint64_t const i = first + simt::thread_rank() / row_lanes;
    bool const is = i < active;
    discharge<Delivery> vertex{r, is, is ? r.active()[i] : 0, by, done};
    while (by.any(vertex.has_arcs())) {
      vertex.next([&](push const& p, bool mine) { by.send(p, mine); });
    }
    vertex.end();
  }
  r.note_work(done);
}

/// Runs iterations by one block as long as few vertices are active, because a grid takes longer to
/// start than such an iteration takes. Their number is even, so that iteration `first` finds its
/// lists and heights in place. `delivery(r)` returns the delivery of iteration `r`. Grid: one
/// block. Collective over the block.
template <class Delivery>
WARDEN_DEVICE void discharge_few(iteration const& first, Delivery delivery) {
  constexpr std::uint64_t few = simt::has_registers ? 512 : 8;
  constexpr std::uint32_t most_iterations = simt::has_registers ? 24 : 6;
  control& c = *first.state.control;
  iteration r = first;
  std::uint64_t active = c.active[r.number % 3];
  while (active != 0 && active <= few && r.number - first.number < most_iterations) {
    WARDEN_NO_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      auto by = delivery(r);
      discharge_share(r, by);
      // This barrier orders the writes of the iteration, which are heights, excesses and the next
      // list, before the reads of the next iteration.
      simt::sync_block();
      ++r.number;
    }
    active = c.active[r.number % 3];
  }
  if (r.number == first.number) return;
  // All threads have read `active` before it is changed.
  simt::sync_block();
  if (simt::thread_rank() != 0) return;
  c.active[0] = c.active[1] = c.active[2] = 0;
  c.active[first.number % 3] = active;
}

}  // namespace max_flow
