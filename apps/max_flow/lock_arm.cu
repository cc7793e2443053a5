// SPDX-License-Identifier: Apache-2.0
// One lock per vertex: a thread holds it while it changes the vertex's excess, or receives a push
// along one of its arcs.

#include "apps/max_flow/arms.cuh"
#include "apps/max_flow/discharge.cuh"

#include <warden/baseline.cuh>

#include <algorithm>
#include <cstddef>

namespace max_flow {

namespace {

namespace baseline = warden::baseline;

/// Context of the sections: the state, and the iteration in which they make vertices active.
struct locked_context {
  flow_state state;
  std::uint32_t next;  ///< iteration
};

/// Like `receive`, with relaxed accesses, because the threads that discharge the vertex read its
/// excess and its arcs without the lock.
struct locked_receive {
  push what;

  WARDEN_DEVICE void operator()(vertex_state& v, locked_context const& c) const {
    std::uint32_t* const residual = &c.state.arcs[what.arc].residual;
    simt::store_relaxed(residual, simt::load_relaxed(residual) + what.amount);
    std::uint64_t const excess = simt::load_relaxed(&v.excess);
    if (excess == 0) activate(c.state, c.next, what.to);
    simt::store_relaxed(&v.excess, excess + what.amount);
  }
};

/// Subtracts the flow that a vertex has pushed from its excess.
struct locked_settle {
  std::uint64_t pushed;
  bool* keeps;  ///< set to true if excess is left; a variable of the thread that holds the lock

  WARDEN_DEVICE void operator()(vertex_state& v, locked_context const&) const {
    std::uint64_t const excess = simt::load_relaxed(&v.excess) - pushed;
    simt::store_relaxed(&v.excess, excess);
    *keeps = excess != 0;
  }
};

/// One operation as work for the baselines.
struct one_id {
  std::uint32_t id;
  WARDEN_DEVICE std::uint32_t operator[](std::uint32_t) const { return id; }
};
template <class Section>
struct one_section {
  Section section;
  WARDEN_DEVICE Section operator()(std::uint32_t) const { return section; }
};
template <class Section>
using one = baseline::work<vertex_state, one_section<Section>, locked_context, one_id>;

template <class Settings>
class by_locks : public in_an_iteration {
 public:
  WARDEN_DEVICE by_locks(iteration const& r, baseline::lock_array_ref const& locks)
      : in_an_iteration{r}, context_{r.state, r.number + 1}, locks_{locks} {}

  WARDEN_DEVICE static bool any(bool mine) { return simt::any(simt::full_warp, mine); }
  /// Sends a push. Collective over the warp, unless lanes are independent. A poisoned launch
  /// continues to its end without locks, and `wait` throws.
  WARDEN_DEVICE void send(push const& p, bool mine) {
    auto const work = work_of(p.to, locked_receive{p});
    using tuned = baseline::lock_tuned<Settings, one<locked_receive>>;
    if constexpr (Settings::how == baseline::lanes::grouped) {
      tuned::run_grouped(work, locks_, 0, mine, name());
    } else if constexpr (Settings::how == baseline::lanes::independent) {
      if (mine) tuned::run_alone(work, locks_, 0, name());
    } else {
      for (unsigned turn = 0; turn < simt::warp_size; ++turn) {
        if (turn == simt::lane_id() && mine) tuned::run_alone(work, locks_, 0, name());
        simt::sync_warp(simt::full_warp);
      }
    }
  }
  /// Returns true if excess is left. Called by one lane for each vertex.
  WARDEN_DEVICE bool keeps(std::uint32_t v, std::uint64_t pushed, std::uint64_t) {
    if (pushed == 0) return true;
    bool is_left = false;
    baseline::lock_tuned<Settings, one<locked_settle>>::run_alone(
        work_of(v, locked_settle{pushed, &is_left}), locks_, 0, name());
    return is_left;
  }

 private:
  template <class Section>
  WARDEN_DEVICE one<Section> work_of(std::uint32_t v, Section const& section) const {
    return {context_.state.vertices, {v}, 1, {section}, context_};
  }
  WARDEN_DEVICE std::uint32_t name() { return baseline::lock_array_ref::name(acquisition_++); }

  locked_context context_;
  baseline::lock_array_ref locks_;
  std::uint32_t acquisition_ = 0;
};

struct locked_iteration {
  iteration all;
  baseline::lock_array_ref locks;
};
template <class Settings>
WARDEN_KERNEL void discharge_by_locks(WARDEN_GRID_CONSTANT locked_iteration const a) {
  simt::assume_one_dimension();
  by_locks<Settings> by{a.all, a.locks};
  discharge_share(a.all, by);
}

template <class Settings>
WARDEN_KERNEL void WARDEN_BOUNDS(one_block_threads, 1)
    discharge_few_by_locks(WARDEN_GRID_CONSTANT locked_iteration const a) {
  simt::assume_one_dimension();
  discharge_few(a.all, [&](iteration const& r) { return by_locks<Settings>{r, a.locks}; });
}

/// Sample for tuning: a push along each arc, or along its reverse arc if the arc leads to a
/// terminal. No thread takes a terminal's lock in an iteration, and a million arcs may lead to it.
struct push_along_arc {
  network net;
  WARDEN_DEVICE locked_receive operator()(std::uint32_t i) const {
    std::uint32_t const arc = arc_of(i);
    return {{net.neighbours[arc], net.reverse[arc], 1}};
  }
  /// The vertex at the end of push i.
  WARDEN_DEVICE std::uint32_t operator[](std::uint32_t i) const {
    return net.neighbours[arc_of(i)];
  }

 private:
  WARDEN_DEVICE std::uint32_t arc_of(std::uint32_t i) const {
    return net.is_terminal(net.neighbours[i]) ? net.reverse[i] : i;
  }
};

template <template <class> class With>
auto kernel_of(baseline::lock_choice const& c) {
  using baseline::lanes;
  using baseline::lock_settings;
  switch (c.how) {
    case lanes::serialized:
      return c.back_off ? With<lock_settings<lanes::serialized, true>>::kernel
                        : With<lock_settings<lanes::serialized, false>>::kernel;
    case lanes::grouped:
      return c.back_off ? With<lock_settings<lanes::grouped, true>>::kernel
                        : With<lock_settings<lanes::grouped, false>>::kernel;
    case lanes::independent:
      break;
  }
  return c.back_off ? With<lock_settings<lanes::independent, true>>::kernel
                    : With<lock_settings<lanes::independent, false>>::kernel;
}
template <class Settings>
struct discharge_with {
  static constexpr auto kernel = &discharge_by_locks<Settings>;
};
template <class Settings>
struct discharge_few_with {
  static constexpr auto kernel = &discharge_few_by_locks<Settings>;
};

/// Arm with one lock per vertex. Untuned, it is as in [Wang 2020].
class lock_arm final : public arm {
 public:
  lock_arm(network const& net, flow_state const& state, bool tuned)
      : net_{net}, state_{state}, tuned_{tuned}, locks_{net.vertices} {
    choose({});
  }

  std::string tune() override {
    if (!tuned_ || net_.arcs == 0) return {};
    using sample = baseline::work<vertex_state, push_along_arc, locked_context, push_along_arc>;
    constexpr std::uint64_t most = 1 << 24;
    choose(baseline::tune_locks(sample{state_.vertices,
                                       {net_},
                                       static_cast<std::uint32_t>(std::min(net_.arcs, most)),
                                       {net_},
                                       {state_, 0}},
                                locks_));
    return baseline::to_string(choice_);
  }
  void iteration_async(iteration const& r, warden::stream_ref s) override {
    simt::launch(kernel_, blocks_, choice_.threads, 0, {r, locks_.ref()}, s);
  }
  void few_iterations_async(iteration const& r, warden::stream_ref s) override {
    simt::launch(few_kernel_, 1, one_block_threads, 0, {r, locks_.ref()}, s);
  }
  void wait(warden::stream_ref s) override { locks_.wait(s); }

 private:
  void choose(baseline::lock_choice const& c) {
    choice_ = c;
    kernel_ = kernel_of<discharge_with>(c);
    few_kernel_ = kernel_of<discharge_few_with>(c);
    unsigned const blocks = c.blocks != 0 ? c.blocks : baseline::full_occupancy(kernel_, c.threads);
    // More blocks would have no vertex.
    blocks_ = std::min(blocks, net_.vertices / (c.threads / row_lanes) + 1);
  }

  network net_;
  flow_state state_;
  bool tuned_;
  baseline::lock_array locks_;
  baseline::lock_choice choice_{};
  void (*kernel_)(locked_iteration) = nullptr;
  void (*few_kernel_)(locked_iteration) = nullptr;
  unsigned blocks_ = 0;
};

}  // namespace

std::unique_ptr<arm> make_lock_arm(std::string const& name, network const& net,
                                   flow_state const& state) {
  return std::make_unique<lock_arm>(net, state, name == "lock_tuned");
}

}  // namespace max_flow
