// SPDX-License-Identifier: Apache-2.0
// Host part of a maximum flow: enqueues many iterations together and reads their results between.

#include "apps/max_flow/flow.cuh"
#include "apps/max_flow/relabel.cuh"
#include "apps/support/device.cuh"

#include <warden/error.hpp>
#include <warden/simt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <string>
#include <type_traits>

namespace max_flow {

namespace {

template <class Argument>
void run(void (*kernel)(Argument), std::type_identity_t<Argument> const& a, warden::stream_ref s) {
  simt::launch(kernel, apps::blocks(), apps::threads(), 0, a, s);
}

struct start_arguments {
  network net;
  flow_state state;
};
/// Begins with no flow.
WARDEN_KERNEL void begin_flow(start_arguments a) {
  simt::assume_one_dimension();
  network const& net = a.net;
  apps::for_my_share(net.vertices, [&](std::uint64_t v) {
    std::uint64_t const first = net.offsets[v];
    a.state.vertices[v] = {0,
                           {static_cast<std::uint32_t>(first),
                            static_cast<std::uint32_t>(net.offsets[v + 1] - first)}};
  });
  apps::for_my_share(net.arcs, [&](std::uint64_t i) {
    std::uint32_t const back = net.reverse[i], capacity = net.capacities[i];
    a.state.arcs[i] = {{net.neighbours[i], back}, capacity, capacity + net.capacities[back]};
  });
}
/// Pushes from the source along all of its arcs, as much as they hold.
WARDEN_KERNEL void saturate(start_arguments a) {
  simt::assume_one_dimension();
  network const& net = a.net;
  std::uint64_t const begin = net.offsets[net.source];
  apps::for_my_share(net.offsets[net.source + std::uint64_t{1}] - begin, [&](std::uint64_t i) {
    arc& from = a.state.arcs[begin + i];
    auto const [v, back] = from.ends;
    std::uint32_t const amount = from.residual;
    if (amount == 0 || v == net.source) return;
    from.residual = 0;
    a.state.arcs[back].residual += amount;
    simt::fetch_add(v == net.sink ? &a.state.control->arrived : &a.state.vertices[v].excess,
                    amount);
  });
}

struct residual_arguments {
  arc const* arcs;
  std::uint64_t n;
  std::uint32_t* residual;  ///< [arc]
};
WARDEN_KERNEL void note_residual(residual_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.n, [&](std::uint64_t i) { a.residual[i] = a.arcs[i].residual; });
}

struct side_arguments {
  std::uint32_t const* heights;
  std::uint32_t vertices;
  std::uint8_t* sides;
};
/// Sets the sides by the last search from the sink.
WARDEN_KERNEL void note_sides(side_arguments a) {
  simt::assume_one_dimension();
  apps::for_my_share(a.vertices,
                     [&](std::uint64_t v) { a.sides[v] = a.heights[v] < a.vertices ? 1 : 0; });
}

network checked(network const& net, std::string const& arm) {
  auto const refuse = [](std::string const& what) {
    throw warden::limit_error{"max_flow: " + what};
  };
  auto const number = [](auto n) { return std::to_string(n); };
  if (net.arcs > std::uint64_t{1} << 32)
    refuse(number(net.arcs) + " arcs; the limit is 4294967296");
  if (net.vertices == 0xffffffff) refuse("4294967295 vertices; the limit is 4294967294");
  if (has_regions(arm) && net.vertices > most_vertices_of_regions) {
    refuse(number(net.vertices) + " vertices; the limit of " + arm + " is " +
           number(most_vertices_of_regions));
  }
  if (has_regions(arm) && net.arcs > most_arcs_of_regions)
    refuse(number(net.arcs) + " arcs; the limit of " + arm + " is " + number(most_arcs_of_regions));
  for (auto const& [name, v] : {std::pair{"source", net.source}, {"sink", net.sink}}) {
    if (v >= net.vertices) {
      refuse(std::string{"the "} + name + " is vertex " + number(v) + ", which is not below " +
             number(net.vertices) + ", the number of vertices");
    }
  }
  if (net.source == net.sink) refuse("source and sink are one vertex, " + number(net.source));
  return net;
}

/// Returns the launch shape of `relabel`: all blocks that are resident together, in the largest
/// clusters that leave few multiprocessors idle. The simulated device gets few blocks, because its
/// threads are slow.
warden::runtime::launch_shape shape_of(warden::runtime::kernel const& kernel) {
  constexpr std::size_t bytes = search_bytes;
  auto const resident =
      static_cast<unsigned>(warden::runtime::resident_blocks(kernel, one_block_threads, bytes));
  if (!simt::has_registers) {
    bool const has_clusters =
        warden::runtime::resident_clusters(kernel, one_block_threads, bytes, 2) != 0;
    return {4, one_block_threads, bytes, true, has_clusters ? 2u : 1u};
  }
  for (unsigned const cluster : {16u, 8u}) {
    unsigned const blocks = cluster * static_cast<unsigned>(warden::runtime::resident_clusters(
                                          kernel, one_block_threads, bytes, cluster));
    if (blocks != 0 && blocks >= resident / 4 * 3)
      return {blocks, one_block_threads, bytes, true, cluster};
  }
  return {resident, one_block_threads, bytes, true};
}
bool simulated() { return warden::runtime::facts(warden::runtime::current_device()).simulated; }

}  // namespace

flow_finder::flow_finder(network const& net, std::string const& arm, flow_options const& o)
    : net_{checked(net, arm)},
      options_{o},
      at_once_{simulated() ? 6u : 48u},
      interval_{simulated() ? 3u : 8u},
      vertices_{net.vertices},
      arcs_{net.arcs},
      residual_{net.arcs},
      levels_{net.vertices},
      heights_{warden::buffer<std::uint32_t>{net.vertices},
               warden::buffer<std::uint32_t>{net.vertices}},
      frontiers_{warden::buffer<std::uint64_t>{net.vertices},
                 warden::buffer<std::uint64_t>{net.vertices}},
      lists_{warden::buffer<std::uint32_t>{has_regions(arm) ? 0 : net.vertices},
             warden::buffer<std::uint32_t>{has_regions(arm) ? 0 : net.vertices}},
      bits_{has_regions(arm) ? std::size_t{net.vertices} / 32 + 1 : 0},
      risen_from_{has_regions(arm) ? net.vertices : 0},
      sides_{net.vertices},
      control_{1},
      state_{vertices_.data(),
             arcs_.data(),
             {heights_[0].data(), heights_[1].data()},
             levels_.data(),
             {frontiers_[0].data(), frontiers_[1].data()},
             control_.data(),
             {lists_[0].data(), lists_[1].data()},
             bits_.data(),
             risen_from_.data()},
      arm_{make_arm(arm, net_, state_, o.regions_a_cluster)},
      search_interval_{arm_->interval()},
      relabel_{simt::make_kernel(&relabel)},
      search_shape_{shape_of(relabel_)} {
  warden::stream_ref{}.synchronize();  // the network was made in the default stream
  if (options_.iterations_a_level != 0)
    search_interval_.steps_a_level = options_.iterations_a_level;
  if (options_.most_iterations == 0)
    options_.most_iterations = 1000 + 64 * std::uint64_t{net.vertices};
}

void flow_finder::find(teller const& say) {
  begin();
  run(&saturate, {net_, state_}, stream_);
  bring_to(net_.sink, say);
  facts_.value = now_.arrived;
  std::uint64_t const iterations = now_.iterations;
  run(&note_sides, {heights_[0].data(), net_.vertices, sides_.data()}, stream_);
  bring_to(net_.source, say);
  read_residual();
  facts_.iterations = now_.iterations;
  facts_.iterations_back = now_.iterations - iterations;
  facts_.pushes = now_.pushes;
  facts_.relabels = now_.relabels;
  has_failed_ = false;
}

std::string flow_finder::tune() {
  begin();
  stream_.synchronize();
  iterations_.reset();  // its kernels have the earlier settings
  std::string said = arm_->tune();
  has_failed_ = false;
  return said;
}

void flow_finder::begin() {
  facts_ = {};
  now_ = {};
  warden::stream_ref{}.synchronize();  // the network was made in the default stream
  if (has_failed_) {
    // Pushes that found no room in an inbox belong to the failed run, which has reported its error.
    arm_->settle_async(stream_);
    try {
      arm_->wait(stream_);
    } catch (warden::limit_error const&) {
    }
  }
  has_failed_ = true;
  control_.fill_bytes(0, stream_);
  run(&begin_flow, {net_, state_}, stream_);
  arm_->begin_async(net_, stream_);
}

/// Brings excess to `target` until no remaining excess can get there.
void flow_finder::bring_to(std::uint32_t target, teller const& say) {
  bool const is_back = target == net_.source, are_together = arm_->has_all_iterations();
  iteration const first{net_, state_, 0, 0};
  for (bool is_first = true;; is_first = false) {
    bool const is_over = now_.active[0] == 0;
    std::uint64_t const before = now_.iterations;
    search_from(target, is_first);
    if (are_together) {
      arm_->all_iterations_async(first, search_interval_, 0, stream_);
    } else {
      arm_->wait(stream_);
    }
    read();
    ++facts_.searches;
    facts_.levels += now_.levels;
    // Active vertices that the search left. Iterations that are enqueued together count them.
    std::uint64_t const active = are_together ? now_.regions.active : now_.active[0];
    if (active == 0) return;
    if (are_together) look(is_back, say);
    if (is_over && !is_first) {
      ++facts_.overlooked;
      // The limit also applies if iterations leave no vertex active each time.
      if (before > options_.most_iterations) give_up(active);
    }
    std::uint64_t const due = are_together
                                  ? now_.regions.due
                                  : search_interval_.steps(now_.levels, active, net_.vertices);
    auto const done = [&] { return (now_.iterations - before) * arm_->steps(); };
    while (done() < due && now_.active[0] != 0) {
      if (are_together) {
        arm_->all_iterations_async(first, search_interval_, due - done(), stream_);
      } else {
        replay(iterations_, [&] { enqueue_iterations(); });
      }
      read();
      look(is_back, say);
    }
  }
}

void flow_finder::search_from(std::uint32_t target, bool is_first) {
  constexpr std::size_t of_launches = sizeof(control) - offsetof(control, search);
  warden::runtime::fill_async(&control_.data()->search, 0, of_launches, stream_);
  search a{net_, state_, target, is_first, target == net_.sink};
  void* arguments[] = {&a};
  warden::runtime::launch(relabel_, search_shape_, arguments, stream_);
}

/// Runs pushes that found no room in inboxes, and calls `say`. Throws the errors of both.
void flow_finder::look(bool is_back, teller const& say) {
  if (now_.regions.full_in != 0) {
    arm_->settle_async(stream_);
    arm_->wait(stream_);
    read();
  }
  if (say) {
    read_residual();
    say({now_.iterations, now_.active[0], is_back ? facts_.value : now_.arrived, is_back});
  }
  if (now_.iterations > options_.most_iterations && now_.active[0] != 0) give_up(now_.active[0]);
}

void flow_finder::enqueue_iterations() {
  for (std::uint32_t r = 0; r < at_once_; ++r) {
    iteration const next{net_, state_, r, r / interval_ % 2};
    if (r % interval_ == 0) {
      run(&close_gap, next, stream_);
      arm_->few_iterations_async(next, stream_);
    }
    arm_->iteration_async(next, stream_);
  }
}
/// Launches the captured work. The first call enqueues it before the capture, so that all kernels
/// are loaded.
template <class Enqueue>
void flow_finder::replay(std::optional<warden::graph>& kept, Enqueue enqueue) {
  if (kept) return kept->launch(stream_);
  enqueue();
  kept = warden::graph::capture(stream_, enqueue);
}

/// Copies the residual capacities. Blocks the host.
void flow_finder::read_residual() {
  run(&note_residual, {arcs_.data(), net_.arcs, residual_.data()}, stream_);
  stream_.synchronize();
}
/// Reads the results. Throws if a barrier of the grid gave up.
void flow_finder::read() {
  warden::copy(&now_, control_.data(), 1, stream_);
  stream_.synchronize();
  for (auto const* barrier : {&now_.search.barrier, &now_.regions.barrier}) {
    if (barrier->failed != 0)
      throw warden::error{"max_flow: " + apps::error_text(barrier->first),
                          std::source_location::current()};
  }
}

void flow_finder::give_up(std::uint64_t active) {
  arm_->wait(stream_);
  std::uint64_t left = 0;
  for (vertex_state const& v : vertices_.to_host(stream_)) left += v.excess;
  throw warden::limit_error{"max_flow: " + std::to_string(now_.iterations) +
                            " iterations, and still an excess of " + std::to_string(left) + " at " +
                            std::to_string(active) + " active vertices; the limit is " +
                            std::to_string(options_.most_iterations) + " iterations"};
}

}  // namespace max_flow
