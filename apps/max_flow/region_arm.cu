// SPDX-License-Identifier: Apache-2.0
// Regions: a block holds the excesses and heights of neighbouring vertices on its chip and
// discharges them again and again; what crosses a border is a section on the other vertex.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/discharge.cuh"
#include "apps/max_flow/sections.cuh"

#include <warden/cuda_names.cuh>
#include <warden/launch_kernel.cuh>

#include <algorithm>
#include <cstddef>

namespace max_flow {

namespace {

constexpr unsigned threads = one_block_threads;

/// What a block holds: for each vertex of the region its excess, two heights that steps read in
/// turn, as rounds do theirs, where its arcs begin, and a place in each of two lists. And pushes
/// that leave the region: a step would wait for the log to take them.
struct region_memory {
  std::uint64_t* excess;
  std::uint32_t* heights[2];
  std::uint32_t* begins;  ///< and where those of the last one end; modulo 2^32
  push* leaving;
  std::uint16_t* lists[2];  ///< vertices by their places in the region

  /// Pushes that there is room for. More go into the log at once.
  static constexpr std::uint32_t most_leaving = simt::has_registers ? 2048 : 8;
  static constexpr std::uint32_t most_vertices = 1 << 16;
  static constexpr std::size_t bytes(std::size_t size) {
    return size * (sizeof(std::uint64_t) + 3 * sizeof(std::uint32_t) + 2 * sizeof(std::uint16_t)) +
           sizeof(std::uint32_t) + most_leaving * sizeof(push);
  }
  WARDEN_DEVICE static region_memory in(std::byte* memory, std::uint32_t size) {
    region_memory m;
    m.excess = reinterpret_cast<std::uint64_t*>(memory);
    m.heights[0] = reinterpret_cast<std::uint32_t*>(m.excess + size);
    m.heights[1] = m.heights[0] + size;
    m.begins = m.heights[1] + size;
    m.leaving = reinterpret_cast<push*>(m.begins + size + 1);
    m.lists[0] = reinterpret_cast<std::uint16_t*>(m.leaving + most_leaving);
    m.lists[1] = m.lists[0] + size;
    return m;
  }
};

/// What the threads of a block count, in shared memory.
struct region_counts {
  std::uint32_t listed[3];  ///< [step modulo 3]
  std::uint32_t leaving;
};

/// A step within a region: as a round, with atomics on chip. Vertices elsewhere are seen as they
/// were when the round began, and whoever has such a neighbour rises no further in the round than
/// one above where that one may push from: it does so from one above the height that it saw, at
/// least.
class in_region {
 public:
  WARDEN_DEVICE in_region(round const& r, guarded::deferred_ref const& to,
                          region_memory const& mine, std::uint32_t region, region_counts& counts)
      : round_{r}, to_{to}, mine_{mine}, region_{region}, counts_{counts} {}

  /// Mostly all of a row at once: a step waits for the longest one, and has few.
  static constexpr unsigned lanes = 16;
  /// (A row of 2^32 arcs is one of loops, which lead nowhere.)
  [[nodiscard]] WARDEN_DEVICE row arcs(std::uint32_t v) const {
    std::uint32_t const begin = simt::shared_load(mine_.begins[place(v)]);
    return {begin, begin + std::uint64_t{simt::shared_load(mine_.begins[place(v) + 1]) - begin}};
  }
  WARDEN_DEVICE bool is_elsewhere(std::uint32_t v) const {
    return !is_here(v) && !round_.network.is_terminal(v);
  }
  WARDEN_DEVICE std::uint32_t height(std::uint32_t v) const {
    return is_here(v) ? simt::shared_load(heights()[place(v)]) : round_.heights()[v];
  }
  WARDEN_DEVICE std::uint32_t highest(std::uint32_t v) const { return round_.heights()[v] + 2; }
  WARDEN_DEVICE std::uint64_t excess(std::uint32_t v) const {
    return simt::shared_load(mine_.excess[place(v)]);
  }
  WARDEN_DEVICE std::uint32_t residual(std::uint64_t arc) const {
    return simt::load_relaxed(&round_.state.residual[arc]);
  }
  WARDEN_DEVICE void set_residual(std::uint64_t arc, std::uint32_t value) const {
    simt::store_relaxed(&round_.state.residual[arc], value);
  }
  WARDEN_DEVICE void send(push const& p) const {
    if (is_elsewhere(p.to)) return leave(p);
    simt::fetch_add(&round_.state.residual[p.arc], p.amount);
    if (simt::shared_fetch_add(mine_.excess[place(p.to)], p.amount) == 0) list(p.to);
  }
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t pushed) const {
    return pushed == 0 || simt::shared_fetch_add(mine_.excess[place(v)], 0 - pushed) != pushed;
  }
  WARDEN_DEVICE void end(std::uint32_t v, std::uint32_t height, bool is_active) const {
    simt::shared_store(next_heights()[place(v)], height);
    if (is_active) list(v);
  }

  /// Makes a vertex of the region active in the next step.
  WARDEN_DEVICE void list(std::uint32_t v) const {
    std::uint32_t const at = simt::shared_fetch_add(counts_.listed[(step_ + 1) % 3], 1u);
    (step_ % 2 == 0 ? mine_.lists[1] : mine_.lists[0])[at] = static_cast<std::uint16_t>(place(v));
  }
  /// Ends a step, or what was listed before the first one. Collective over the block.
  WARDEN_DEVICE void next_step() {
    simt::sync_block();
    ++step_;
    if (simt::thread_rank() == 0) simt::shared_store(counts_.listed[(step_ + 2) % 3], 0u);
  }
  /// Active in this step.
  WARDEN_DEVICE std::uint32_t listed() const {
    return simt::shared_load(counts_.listed[step_ % 3]);
  }
  WARDEN_DEVICE std::uint32_t listed(std::uint32_t i) const {
    return (region_ << round_.state.region_log2) +
           (step_ % 2 == 0 ? mine_.lists[0] : mine_.lists[1])[i];
  }
  /// Behind the last step: what leaves the region goes into the log.
  WARDEN_DEVICE void send_leaving() const {
    std::uint32_t const all = simt::shared_load(counts_.leaving);
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
  WARDEN_DEVICE void leave(push const& p) const {
    std::uint32_t const at = simt::shared_fetch_add(counts_.leaving, 1u);
    if (at >= mine_.most_leaving) {
      to_.send(p.to, receive{p});
      return;
    }
    push& place = mine_.leaving[at];
    simt::shared_store(place.to, p.to);
    simt::shared_store(place.arc, p.arc);
    simt::shared_store(place.amount, p.amount);
  }
  WARDEN_DEVICE std::uint32_t* next_heights() const {
    return step_ % 2 == 0 ? mine_.heights[1] : mine_.heights[0];
  }
  WARDEN_DEVICE bool is_here(std::uint32_t v) const {
    return v >> round_.state.region_log2 == region_;
  }
  WARDEN_DEVICE std::uint32_t place(std::uint32_t v) const {
    return v & ((1u << round_.state.region_log2) - 1);
  }

  round const& round_;
  guarded::deferred_ref const& to_;
  region_memory mine_;
  std::uint32_t region_;
  region_counts& counts_;
  std::uint32_t step_ = 0;
};

/// Steps of a region in a round.
constexpr unsigned most_steps = simt::has_registers ? 16 : 4;

/// Calls `load(i)` for a thread's share of a region's `n` vertices, several of them before the
/// first `use(i, what was loaded)`: the loads do not wait for one another.
template <class Load, class Use>
WARDEN_DEVICE void for_region(std::uint32_t n, Load load, Use use) {
  constexpr unsigned ahead = 4;
  for (std::uint32_t first = simt::thread_rank(); first < n;
       first += ahead * simt::block_threads()) {
    decltype(load(first)) loaded[ahead]{};
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      std::uint32_t const i = first + k * simt::block_threads();
      if (i < n) loaded[k] = load(i);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < ahead; ++k) {
      std::uint32_t const i = first + k * simt::block_threads();
      if (i < n) use(i, loaded[k]);
    }
  }
}

/// The active vertices of a step, as discharge_share takes those of a round.
WARDEN_DEVICE work discharge_step(round const& r, in_region& by) {
  constexpr std::uint32_t rows = simt::warp_size / in_region::lanes;
  std::uint32_t const active = by.listed();
  work done{};
  for (std::uint32_t first = simt::warp_rank() * rows; first < active;
       first += simt::block_threads() / in_region::lanes) {
    std::uint32_t const i = first + simt::lane_id() / in_region::lanes;
    bool const is = i < active;
    discharge<in_region> vertex{r, is, is ? by.listed(i) : 0, by};
    while (simt::any(simt::full_warp, vertex.has_arcs())) {
      push p{};
      if (vertex.next(p)) by.send(p);
    }
    vertex.end();
    done += vertex.done();
  }
  return done;
}

/// A round of one region, by a whole block, in its shared memory.
WARDEN_DEVICE void discharge_region(round const& r, guarded::deferred_ref const& to,
                                    std::uint32_t region, std::byte* memory,
                                    region_counts& counts) {
  std::uint32_t const size = 1u << r.state.region_log2, first = region << r.state.region_log2;
  std::uint32_t const vertices = r.network.vertices;
  std::uint32_t const n = vertices - first < size ? vertices - first : size;
  region_memory const mine = region_memory::in(memory, size);
  in_region by{r, to, mine, region, counts};
  auto const has_work = [&](std::uint32_t v, std::uint64_t excess, std::uint32_t height) {
    return excess != 0 && height < vertices && !r.network.is_terminal(v);
  };

  if (simt::thread_rank() == 0) {
    r.state.marks[region] = 0;
    simt::shared_store(counts.listed[1], 0u);
    simt::shared_store(counts.listed[2], 0u);
    simt::shared_store(counts.leaving, 0u);
    simt::shared_store(mine.begins[n],
                       static_cast<std::uint32_t>(r.network.offsets[first + std::uint64_t{n}]));
  }
  simt::sync_block();
  struct beginning {
    std::uint64_t excess;
    std::uint32_t height, arcs;
  };
  for_region(
      n,
      [&](std::uint32_t i) {
        return beginning{r.state.vertices[first + i].excess, r.heights()[first + i],
                         static_cast<std::uint32_t>(r.network.offsets[first + i])};
      },
      [&](std::uint32_t i, beginning const& b) {
        simt::shared_store(mine.excess[i], b.excess);
        simt::shared_store(mine.heights[0][i], b.height);
        simt::shared_store(mine.heights[1][i], b.height);
        simt::shared_store(mine.begins[i], b.arcs);
        if (has_work(first + i, b.excess, b.height)) by.list(first + i);
      });
  by.next_step();

  work done{};
  for (unsigned step = 0; step < most_steps && by.listed() != 0; ++step) {
    done += discharge_step(r, by);
    by.next_step();
  }

  by.send_leaving();
  bool is_active = false;
  for_region(
      n, [&](std::uint32_t i) { return r.heights()[first + i]; },
      [&](std::uint32_t i, std::uint32_t before) {
        std::uint64_t const excess = simt::shared_load(mine.excess[i]);
        std::uint32_t const height = simt::shared_load(by.heights()[i]);
        r.state.vertices[first + i].excess = excess;
        r.next_heights()[first + i] = height;
        if (height != before) r.note_height(before, height);
        // Who rose is in the next round once more, so that both its heights are the same after
        // that.
        is_active |= height != before || has_work(first + i, excess, height);
      });
  if (simt::sync_block_or(is_active) && simt::thread_rank() == 0)
    activate(r.state, r.number + 1, first);
  r.note_work(done);
}

/// A block takes each region of the list that is its turn.
WARDEN_KERNEL void WARDEN_BOUNDS(threads, 1)
    discharge_regions(WARDEN_GRID_CONSTANT guarded::deferred_ref const to,
                      WARDEN_GRID_CONSTANT round const r) {
  WARDEN_SHARED(region_counts, counts);
  std::uint64_t const active = r.begin();
  for (std::uint64_t i = simt::block_rank(); i < active; i += simt::block_count()) {
    discharge_region(r, to, r.active()[i], simt::dynamic_shared(), counts);
    simt::sync_block();
  }
}

/// One kernel, and the run of its log.
class region_arm final : public arm {
 public:
  region_arm(network const& net, flow_state const& state)
      : guarded_{state.vertices, net.vertices, state},
        log_{guarded_, std::max<std::size_t>(net.arcs, 1), in_place},
        shared_bytes_{region_memory::bytes(std::size_t{1} << state.region_log2)},
        blocks_{static_cast<unsigned>(warden::runtime::resident_blocks(
            simt::make_kernel(&discharge_regions), threads, shared_bytes_))} {
    blocks_ = std::min(blocks_, (net.vertices >> state.region_log2) + 1);
  }
  void round_async(round const& r, warden::stream_ref s) override {
    warden::launch(&discharge_regions, {blocks_, threads, shared_bytes_}, s, log_.ref(), r);
    log_.run(s);
  }
  void wait(warden::stream_ref s) override { guarded_.wait(s); }
  [[nodiscard]] unsigned steps() const override { return most_steps; }

 private:
  // An edge across a border may be pushed along in each step. There is room for two pushes each, of
  // all edges, which are mostly within regions; a log that is full is an error, and nothing worse.
  guarded guarded_;
  push_log log_;
  std::size_t shared_bytes_;
  unsigned blocks_;
};

}  // namespace

std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state) {
  return std::make_unique<region_arm>(net, state);
}

std::uint32_t region_log2(std::uint32_t vertices) {
  auto const facts = warden::runtime::facts(warden::runtime::current_device());
  std::uint32_t log2 = 0;
  // As many as multiprocessors, unless they are larger than the chip.
  while ((std::uint64_t{1} << log2) * static_cast<unsigned>(facts.multiprocessors) < vertices &&
         (std::size_t{2} << log2) <= region_memory::most_vertices &&
         region_memory::bytes(std::size_t{2} << log2) + 1024 <= facts.shared_bytes_per_block)
    ++log2;
  return log2;
}

}  // namespace max_flow
