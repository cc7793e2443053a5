// SPDX-License-Identifier: Apache-2.0
/// @file
/// An iteration: every active vertex pushes its excess down, and rises if some is left. How a push
/// reaches the other vertex is the arm's affair, all else is the same for all.
#pragma once

#include "apps/max_flow/push.cuh"

#include <cstdint>

namespace max_flow {

/// Common part of the deliveries of an iteration: heights are those at its beginning.
class in_an_iteration {
 public:
  WARDEN_DEVICE explicit in_an_iteration(iteration const& r) : iteration_{r} {}

  /// Lanes that share a vertex's row, and arcs that each looks at together.
  static constexpr unsigned lanes = row_lanes, arcs_each = 1;
  /// Loads the state while other vertices may push to it.
  WARDEN_DEVICE static vertex_state load(vertex_state const& v) { return load_vertex(v); }
  WARDEN_DEVICE static arc load(arc const& a) { return load_arc(a); }
  WARDEN_DEVICE static void set_residual(arc& a, std::uint32_t value) {
    simt::store_relaxed(&a.residual, value);
  }
  WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const { return iteration_.heights()[v]; }
  /// Largest height to which the discharged vertex may rise from that height, whatever its arcs
  /// allow.
  [[nodiscard]] WARDEN_DEVICE std::uint32_t highest(std::uint32_t) const {
    return iteration_.network.vertices;
  }
  /// The height of the next iteration, which was `before` in this one, and whether the vertex is
  /// active in it. It `waits` if it has excess all the same.
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t before, std::uint32_t height,
                         bool is_active, bool /*waits*/) const {
    if (height != before) iteration_.note_height(before, height);
    iteration_.next_heights()[v] = height;
    if (is_active) activate(iteration_.state, iteration_.number + 1, v);
  }

 protected:
  iteration const& iteration_;
};

/// The order in which a vertex pushes along `Lanes` times `Each` consecutive arcs of its row,
/// `Each` of which each lane has: first along those of lane 0. If it always began with the first
/// arcs of a row, whose neighbours have the lowest numbers, excess would move to one corner of the
/// network. So a vertex begins elsewhere at each height, and successive arcs are not neighbours.
template <unsigned Lanes, unsigned Each>
class arc_order {
  static_assert(Lanes <= 8 && (Each == 1 || Each >= 4));

 public:
  WARDEN_HOST_DEVICE arc_order(std::uint32_t v, std::uint32_t height)
      : turn_{(v * 0x9e3779b1u + height * 0x85ebca6bu) >> 27} {}

  /// The `k`-th arc of `lane`.
  [[nodiscard]] WARDEN_HOST_DEVICE unsigned at(unsigned lane, unsigned k) const {
    unsigned const place = lane ^ (turn_ / 4 & (Lanes - 1));
    unsigned const later = Each == 1 ? 0 : k + turn_ % 4;
    return place % (Lanes / 2) * 2 + place / (Lanes / 2) +
           (later < Each ? later : later - Each) * Lanes;
  }

 private:
  std::uint32_t turn_;
};

/// One vertex's iteration, by some lanes, each of which looks at some arcs at a time. A `Delivery`
/// states their number, and the loads and stores by which the vertex reads and writes its own
/// residual capacities and excess: plain ones if no other thread uses them at that time.
///
/// Heights do not change during an iteration, and a push goes from a height to the next lower one.
/// So two neighbours never push to each other in one iteration, and only a push along an arc
/// changes its reverse arc.
template <class Delivery>
class discharge {
 public:
  static constexpr unsigned lanes = Delivery::lanes, arcs_each = Delivery::arcs_each;

  /// Begins with vertex `v`, or with none; the same for all its lanes. What the lane does is added
  /// to `done`. Collective over the warp.
  WARDEN_DEVICE discharge(iteration const& r, bool is, std::uint32_t v, Delivery& by, work& done)
      : iteration_{r}, by_{by}, done_{done}, v_{v}, is_{is}, lowest_{r.network.vertices} {
    vertex_state own{};
    if (is) {
      height_ = by.height(v);
      own = by.load(r.state.vertices[v]);
      may_rise_to(by.highest(height_));
    }
    // Loaded by one lane: other threads may add to it.
    left_ = excess_ = simt::shuffle(simt::full_warp, own.excess, simt::lane_id() - lane());
    // One that was found to be cut off leaves the list: both its heights say so now. So does one
    // whose excess went on in the iteration in which it came.
    if (is_cut_off() || excess_ == 0) return;
    first_ = own.arcs.first;
    n_ = own.arcs.number;
  }

  /// True if there are arcs that were not looked at. (A row of 2^32 arcs is one of loops, which
  /// lead nowhere.)
  [[nodiscard]] WARDEN_DEVICE bool has_arcs() const { return at_ < n_; }

  /// Looks at the next arcs, `arcs_each` for each lane. Calls `send(p, mine)`: `mine` if the lane
  /// pushes along its arc, to a vertex that is no terminal. With one arc each all lanes call it
  /// together, once; with more a lane calls it for the arcs that it pushes along, by itself. The
  /// amount has been taken from the excess and from the residual capacity. Collective over the
  /// warp.
  template <class Send>
  WARDEN_DEVICE void next(Send send) {
    std::uint32_t const left = n_ - at_;
    arc_order<lanes, arcs_each> const order{v_, height_};
    auto const at = [&](unsigned k) { return order.at(lane(), k); };
    std::uint32_t const first = first_ + at_;
    at_ += left < arcs_each * lanes ? left : arcs_each * lanes;
    push pushes[arcs_each]{};
    std::uint32_t residual[arcs_each]{}, height[arcs_each]{};
    auto const is = [&](unsigned k) { return at(k) < left; };
    // All loads are issued before any result is used, except for heights of vertices to which
    // nothing can be pushed, which are not worth a load each.
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      if (!is(k)) continue;
      arc const a = by_.load(iteration_.state.arcs[first + at(k)]);
      pushes[k].to = a.ends.to;
      pushes[k].arc = a.ends.back;
      residual[k] = a.residual;
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      if (residual[k] != 0) height[k] = by_.height(pushes[k].to);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < arcs_each; ++k) {
      // A loop leads nowhere.
      look(is(k) && pushes[k].to != v_, pushes[k].to, residual[k], height[k]);
      pushes[k].amount = height[k] + 1 == height_ ? residual[k] : 0;
    }
    share(pushes);
    if constexpr (arcs_each == 1) {
      send(pushes[0], take(pushes[0], first + at(0), residual[0]));
    } else {
      // A lane pushes along one or two, mostly: each lane takes the next one of its own.
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

  /// After the last arc: the height of the next iteration, and the place in it. Collective over the
  /// warp.
  WARDEN_DEVICE void end() {
    WARDEN_UNROLL
    for (unsigned other = 1; other < lanes; other *= 2)
      may_rise_to(simt::shuffle(simt::full_warp, lowest_, simt::lane_id() ^ other));
    if (!is_ || lane() != 0) return;
    if (is_cut_off() || excess_ == 0) return by_.end(v_, height_, height_, false, false);
    // A vertex with excess left has pushed along all arcs that lead one lower; unless it had more
    // than it may push at once, and goes on.
    bool const has_more = left_ != 0;
    bool const rises = has_more && !goes_on_ && lowest_ > height_;
    done_.relabels += rises ? 1 : 0;
    // Flow that others pushed here in this iteration counts too. A vertex that can neither push nor
    // rise waits.
    bool const keeps = by_.keeps(v_, excess_ - left_, left_);
    bool const waits = has_more && !goes_on_ && !rises;
    by_.end(v_, height_, rises ? lowest_ : height_, keeps && !waits, waits);
  }

 private:
  WARDEN_DEVICE static unsigned lane() { return simt::lane_id() % lanes; }
  [[nodiscard]] WARDEN_DEVICE bool is_cut_off() const {
    return height_ >= iteration_.network.vertices;
  }

  /// Where an arc lets the vertex rise to, if it is not pushed along.
  WARDEN_DEVICE void look(bool leads, std::uint32_t to, std::uint32_t residual,
                          std::uint32_t height) {
    constexpr std::uint32_t anywhere = 0xffffffff;
    // The arc is full: a neighbour one higher may push along the reverse arc now, and then finds
    // this vertex no higher than it could be with that residual capacity.
    bool const has_room = residual != 0, is_terminal = iteration_.network.is_terminal(to);
    std::uint32_t const bound = has_room ? height + 1 : height_ + 2;
    bool const bounds = has_room ? height + 1 != height_ : !is_terminal;
    may_rise_to(leads && bounds ? bound : anywhere);
  }

  /// Divides the excess among this lane's arcs, whose amounts were their room: earlier lanes take
  /// as much as they have room for. Pushes along these arcs are below 2^32, because 32 bits are
  /// added up in half the time of 64, and sums stop at the excess.
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
  /// Subtracts a push along an arc from its residual capacity. True if another vertex gets it.
  WARDEN_DEVICE bool take(push const& p, std::uint32_t along, std::uint32_t residual) {
    if (p.amount == 0) return false;
    ++done_.pushes;
    by_.set_residual(iteration_.state.arcs[along], residual - p.amount);
    if (!iteration_.network.is_terminal(p.to)) return true;
    // Only neighbours change a terminal's arcs. An atomic without waiting for its result.
    simt::add(&iteration_.state.arcs[p.arc].residual, p.amount);
    done_.arrived += p.amount;
    return false;
  }

  /// Limits the height; the number of vertices is the height of those that are cut off.
  WARDEN_DEVICE void may_rise_to(std::uint32_t height) {
    if (height < lowest_) lowest_ = height;
  }

  iteration const& iteration_;
  Delivery& by_;
  work& done_;
  std::uint32_t v_;
  bool is_;
  std::uint32_t height_ = 0;
  std::uint32_t lowest_;          ///< where it may rise to, as far as this lane knows
  std::uint64_t excess_ = 0;      ///< at the beginning
  std::uint64_t left_ = 0;        ///< excess that is left
  bool goes_on_ = false;          ///< true if there may be room for the rest
  std::uint32_t first_ = 0;       ///< arc
  std::uint32_t n_ = 0, at_ = 0;  ///< alike for all lanes
};

/// The active vertices of a block in an iteration: any one-dimensional grid of whole warps.
/// Collective as far as the delivery is: `by.any(mine)` is true if any of the threads that send
/// together still has arcs to look at, and `by.send(p, mine)` sends the pushes of those that have.
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

/// Iterations as long as few vertices are active, by one block: a grid takes longer to start than
/// such an iteration takes. An even number of them, so that lists and heights stand where iteration
/// `first` looks for them. `delivery(r)` is that of iteration `r`. Collective over the block, the
/// only one.
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
      // The writes of the iteration come before this barrier: heights, excesses, the list of the
      // next one.
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
