// SPDX-License-Identifier: Apache-2.0
/// @file
/// Maximum flows and minimum cuts by push-relabel. In each iteration all vertices with excess push
/// it to lower vertices, and rise.
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
  /// Iterations, or steps of iterations, between two global relabellings, per level of the last
  /// one, if few vertices are active (see search_interval). 0: the arm's choice.
  double iterations_a_level = 0;
  /// Largest number of iterations, after which `find` throws; 0: 1,000 plus 64 per vertex.
  std::uint64_t most_iterations = 0;
  /// Approximate number of regions that a cluster processes in an iteration, for an arm with
  /// regions. 0: the best number for the network.
  std::uint32_t regions_a_cluster = 0;
};

/// Progress of `find`, reported every few iterations.
struct flow_progress {
  std::uint64_t iterations;
  std::uint64_t active;  ///< active vertices
  std::uint64_t flow;    ///< flow that has arrived at the sink
  bool is_back;          ///< true in the second phase: excess returns to the source
};

/// Facts of a search, which explain its time.
struct flow_facts {
  std::uint64_t value = 0;            ///< value of the flow
  std::uint64_t iterations = 0;       ///< iterations of both phases
  std::uint64_t iterations_back = 0;  ///< iterations of the second phase
  std::uint64_t searches = 0;         ///< global relabellings
  std::uint64_t levels = 0;           ///< levels of all global relabellings
  std::uint64_t pushes = 0;
  std::uint64_t relabels = 0;  ///< relabels of single vertices
  /// Searches that found active vertices although iterations had left none. 0 unless an invariant
  /// is broken: heights are lower bounds of distances, and every vertex with excess that can leave
  /// it is in the list.
  std::uint64_t overlooked = 0;
};

/// Finds flows of one network. Allocates all memory in the constructor.
///
/// First excess goes to the sink. When no remaining excess can get there the preflow is a maximum
/// one, and the vertices that can reach the sink are a side of a minimum cut. Then the remaining
/// excess goes back to the source by the same iterations, with heights counted from there.
class flow_finder {
 public:
  /// Constructs a finder. The network outlives it. Throws limit_error for an invalid network
  /// (source and sink must be two of its vertices; at most 2^32 arcs and 2^32 - 2 vertices, 2^30
  /// and 2^31 in regions), or an unknown arm, and cuda_error when memory is short.
  flow_finder(network const& net, std::string const& arm, flow_options const& o = {});

  /// Finds a maximum flow and a minimum cut. Calls `say` every few iterations. Blocks the host.
  /// Throws the arm's error, and limit_error with the remaining excess after too many iterations.
  void find(std::function<void(flow_progress const&)> const& say = {});
  /// Lets the arm choose its settings; blocks the host.
  std::string tune();

  [[nodiscard]] flow_facts const& facts() const { return facts_; }
  /// Returns the residual capacity of each arc, in device memory: its capacity minus its flow. The
  /// flow of the reverse arc is the negative of an arc's flow.
  [[nodiscard]] std::uint32_t const* residual() const { return residual_.data(); }
  /// Returns the height of each vertex after the last iterations, in device memory.
  [[nodiscard]] std::uint32_t const* heights() const { return heights_[0].data(); }
  /// Returns the number of vertices of each height below the number of vertices, after the last
  /// iterations, in device memory.
  [[nodiscard]] std::uint32_t const* levels() const { return levels_.data(); }
  /// Returns the side of each vertex, in device memory: 1 if the vertex can reach the sink, 0 if it
  /// is on the source's side.
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
  std::uint32_t interval_;  ///< iterations between two searches for a gap; `at_once_` is an even
                            ///< multiple of it
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
  warden::runtime::launch_shape search_shape_;  ///< launch shape of `relabel_`
  std::optional<warden::graph> iterations_;
  control now_{};            ///< last copy on the host
  bool has_failed_ = false;  ///< true if the last run failed, and during a run
  flow_facts facts_;
};

}  // namespace max_flow
