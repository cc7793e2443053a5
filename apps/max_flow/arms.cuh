// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arms that deliver pushes to the other vertex, by name. All other steps are the same for all
/// arms.
#pragma once

#include "apps/max_flow/interval.cuh"
#include "apps/max_flow/state.cuh"

#include <warden/stream.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace max_flow {

/// Arm: one way to deliver pushes.
class arm {
 public:
  virtual ~arm() = default;
  /// Chooses the arm's settings by measuring them, which changes excesses and residual capacities.
  /// Returns a description of the settings. Blocks the host. Precondition: all excesses are 0, and
  /// no vertex is active.
  virtual std::string tune() { return {}; }
  /// Prepares for a network before its first iteration; enqueued.
  virtual void begin_async(network const& /*net*/, warden::stream_ref /*s*/) {}
  /// Enqueues one iteration. Called if `has_all_iterations` is false.
  virtual void iteration_async(iteration const& /*r*/, warden::stream_ref /*s*/) {}
  /// Enqueues some iterations from `r` on, which do nothing unless few vertices are active. `r` is
  /// still the next iteration after them.
  virtual void few_iterations_async(iteration const& /*r*/, warden::stream_ref /*s*/) {}
  /// Returns true if all iterations until the next search are enqueued together, false if one by
  /// one.
  [[nodiscard]] virtual bool has_all_iterations() const { return false; }
  /// Enqueues iterations from `first` on, with at least `due` steps together. They end earlier if
  /// no vertex is active or an inbox is full. With `due` 0 they follow a search whose result the
  /// host has not read, and its result determines their number.
  virtual void all_iterations_async(iteration const& /*first*/, search_interval const& /*when*/,
                                    std::uint64_t /*due*/, warden::stream_ref /*s*/) {}
  /// Enqueues the run of the pushes that inboxes had no room for.
  virtual void settle_async(warden::stream_ref /*s*/) {}
  /// Returns the interval between two global relabellings.
  [[nodiscard]] virtual search_interval interval() const { return interval_of_iterations; }
  /// Returns the largest number of steps of an iteration. A vertex may push and rise in each step.
  [[nodiscard]] virtual unsigned steps() const { return 1; }
  /// Blocks the host until all iterations are done. Throws their error.
  virtual void wait(warden::stream_ref s) = 0;
};

/// Returns the names of the arms to compare.
std::vector<std::string> const& arm_names();
/// Returns the arm named `name`, with the regions per cluster of flow_options. Throws limit_error
/// for an unknown name, cuda_error when memory is short.
std::unique_ptr<arm> make_arm(std::string const& name, network const& net, flow_state const& state,
                              std::uint32_t regions_a_cluster);

// One translation unit for each kind of arm, because their kernels compile slowly.
std::unique_ptr<arm> make_lock_arm(std::string const& name, network const& net,
                                   flow_state const& state);
std::unique_ptr<arm> make_warden_arm(network const& net, flow_state const& state);
std::unique_ptr<arm> make_region_arm(network const& net, flow_state const& state,
                                     std::uint32_t regions_a_cluster);

/// Returns the fastest arm for a network by measurements: regions, if the GPU has clusters and
/// memory for them and at least half of the arcs stay within a region; otherwise atomics. Blocks
/// the host.
std::string fastest_arm(network const& net);

/// Largest number of vertices of a network with regions: sums of bands must fit 32 bits, and a log
/// has at most this many places.
inline constexpr std::uint32_t most_vertices_of_regions = std::uint32_t{1} << 31;
inline constexpr std::uint64_t most_arcs_of_regions = std::uint64_t{1} << 30;
/// Returns true if an arm discharges regions.
inline bool has_regions(std::string const& name) { return name == "warden_regions"; }

}  // namespace max_flow
