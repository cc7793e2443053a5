// SPDX-License-Identifier: Apache-2.0
/// @file
/// Maximum flows and minimum cuts by push-relabel in iterations: in each of them all vertices that
/// have excess push it to lower ones, and rise.
#pragma once

#include "apps/max_flow/arms.cuh"

#include <warden/buffer.hpp>
#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace max_flow {

/// Options of a search. They do not change its result, except which of several maximum flows it is.
struct flow_options {
  /// Iterations, or steps of iterations, between two global relabellings, for each level that the
  /// last one had, where few vertices are active (see search_interval); 0: as many as the arm
  /// thinks best.
  double iterations_a_level = 0;
  /// An error after this many iterations; 0: 1,000 and 64 for each vertex.
  std::uint64_t most_iterations = 0;
  /// Regions that a cluster takes one after another in an iteration, about, of an arm that has
  /// regions; 0: as many as are best for such a network.
  std::uint32_t regions_a_cluster = 0;
};

/// Where a run is, every some iterations.
struct flow_progress {
  std::uint64_t iterations;
  std::uint64_t active;  ///< vertices
  std::uint64_t flow;    ///< that has come to the sink
  bool is_back;          ///< excess that the sink cannot take goes back to the source
};

/// Facts of a search, which explain its time.
struct flow_facts {
  std::uint64_t value = 0;            ///< value of the flow
  std::uint64_t iterations = 0;       ///< iterations of both phases
  std::uint64_t iterations_back = 0;  ///< iterations of the second one
  std::uint64_t searches = 0;         ///< global relabellings
  std::uint64_t levels = 0;           ///< levels of those
  std::uint64_t pushes = 0;
  std::uint64_t relabels = 0;  ///< relabels of single vertices
  /// Searches that found active vertices although iterations had left none: 0 as long as heights
  /// are lower bounds of distances and every vertex with excess below them is in the list.
  std::uint64_t overlooked = 0;
};

/// Finds flows of one network, all of whose memory it has from the beginning.
///
/// First excess goes to the sink. When no remaining excess can get there the preflow is a maximum
/// one, and the vertices that can reach the sink are a side of a minimum cut. Then the remaining
/// excess goes back to the source by the same iterations, with heights counted from there.
class flow_finder {
 public:
  /// The network outlives it. Throws limit_error for an invalid network (source and sink must be
  /// two of its vertices; at most 2^32 arcs and 2^32 - 2 vertices, 2^30 and 2^31 in regions), or an
  /// unknown arm, and cuda_error when memory is short.
  flow_finder(network const& net, std::string const& arm, flow_options const& o = {});

  /// Finds a maximum flow and a minimum cut. Calls `say` every some iterations. Blocks the host.
  /// Throws what went wrong, and limit_error with the excess that is left after too many
  /// iterations.
  void find(std::function<void(flow_progress const&)> const& say = {});
  /// Lets the arm choose its settings; blocks the host.
  std::string tune();

  [[nodiscard]] flow_facts const& facts() const { return facts_; }
  /// For each arc, in device memory, its capacity less the flow along it, which is as much below 0
  /// on the arc back.
  [[nodiscard]] std::uint32_t const* residual() const { return residual_.data(); }
  /// For each vertex, in device memory, its height as the last iterations left it.
  [[nodiscard]] std::uint32_t const* heights() const { return heights_[0].data(); }
  /// For each height below the number of vertices, in device memory, how many have it, as above.
  [[nodiscard]] std::uint32_t const* levels() const { return levels_.data(); }
  /// For each vertex, in device memory: 1 if it can reach the sink, 0 if it is on the source's
  /// side.
  [[nodiscard]] std::uint8_t const* sides() const { return sides_.data(); }

 private:
  using teller = std::function<void(flow_progress const&)>;

  void begin();
  void bring_to(std::uint32_t target, teller const& say);
  void search_from(std::uint32_t target, bool is_first);
  void look(bool is_back, teller const& say);
  void enqueue_iterations();
  template <class Enqueue>
  void replay(std::optional<warden::graph>& kept, Enqueue enqueue);
  void read();
  void read_residual();
  [[noreturn]] void give_up(std::uint64_t active);

  network net_;
  flow_options options_;
  std::uint32_t at_once_;   ///< iterations that are enqueued together, a multiple of 6
  std::uint32_t interval_;  ///< iterations between two looks for a gap: it divides that an even
                            ///< number of times
  warden::stream stream_;
  warden::buffer<vertex_state> vertices_;
  warden::buffer<arc> arcs_;
  warden::buffer<std::uint32_t> residual_, levels_, heights_[2];
  warden::buffer<std::uint64_t> frontiers_[2];
  warden::buffer<std::uint32_t> lists_[2], bits_, risen_from_;
  warden::buffer<std::uint8_t> sides_;
  warden::buffer<control> control_;
  flow_state state_;
  std::unique_ptr<arm> arm_;
  search_interval search_interval_;
  warden::runtime::kernel relabel_;
  warden::runtime::launch_shape search_shape_;  ///< shape of its launches
  std::optional<warden::graph> iterations_;
  control now_{};            ///< as the host knows it
  bool has_failed_ = false;  ///< the last run, as far as it is known while one is under way
  flow_facts facts_;
};

}  // namespace max_flow
