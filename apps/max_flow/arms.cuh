// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ways in which a push reaches the other vertex, by name. All else is the same for all.
#pragma once

#include "apps/max_flow/interval.cuh"
#include "apps/max_flow/state.cuh"

#include <warden/stream.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace max_flow {

/// One way.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses its settings by trials, which change excesses and residual capacities, and returns
  /// them as text; blocks the host. Excesses are 0 before, and no vertex is active.
  virtual std::string tune() { return {}; }
  /// Looks at the network, before its first iteration; enqueued.
  virtual void begin_async(network const& /*net*/, warden::stream_ref /*s*/) {}
  /// An iteration; enqueued. Of an arm that has no others.
  virtual void iteration_async(iteration const& /*r*/, warden::stream_ref /*s*/) {}
  /// Runs some iterations, from `r` on, or none if few vertices are active; `r` is then the next
  /// one to run. Enqueued.
  virtual void few_iterations_async(iteration const& /*r*/, warden::stream_ref /*s*/) {}
  /// True if all iterations until the next search are enqueued together, false if one by one.
  [[nodiscard]] virtual bool has_all_iterations() const { return false; }
  /// Runs iterations from `first` on, with at least `due` steps, unless no vertex is active after
  /// fewer, or `control` says that an inbox was full. With 0 they follow a search, which the host
  /// has not looked at: their number depends on what the search left. Enqueued.
  virtual void all_iterations_async(iteration const& /*first*/, search_interval const& /*when*/,
                                    std::uint64_t /*due*/, warden::stream_ref /*s*/) {}
  /// Runs what inboxes had no room for. Enqueued.
  virtual void settle_async(warden::stream_ref /*s*/) {}
  /// Between two global relabellings.
  [[nodiscard]] virtual search_interval interval() const { return interval_of_iterations; }
  /// Steps of an iteration, in each of which a vertex may push and rise; at most.
  [[nodiscard]] virtual unsigned steps() const { return 1; }
  /// Blocks the host until all iterations are done. Throws what went wrong.
  virtual void wait(warden::stream_ref s) = 0;
};

/// The arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm of that name, with the regions of a cluster as flow_options has. Throws
/// limit_error for an unknown one, cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, network const& net, flow_state const& state,
                              std::uint32_t regions_a_cluster);

// One translation unit for each kind: their kernels take long enough to compile.
std::unique_ptr<arm> make_lock_arm(std::string const& name, network const& net,
                                   flow_state const& state);
std::unique_ptr<arm> make_warden_arm(network const& net, flow_state const& state);
std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state,
                                     std::uint32_t regions_a_cluster);

/// The one that is fastest for such a network, as measured: regions, where the GPU has clusters and
/// memory for them, and at least half of the arcs stay within one; else atomics. Blocks the host.
std::string fastest_arm(network const& net);

/// Limit of a network that is cut into regions: turns of bands are added in 32 bits, and a log has
/// this many places.
inline constexpr std::uint32_t most_vertices_of_regions = std::uint32_t{1} << 31;
inline constexpr std::uint64_t most_arcs_of_regions = std::uint64_t{1} << 30;
/// True if an arm discharges regions.
inline bool has_regions(std::string const& name) { return name == "warden_regions"; }

}  // namespace max_flow
