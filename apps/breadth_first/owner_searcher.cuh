// SPDX-License-Identifier: Apache-2.0
/// @file
/// Breadth-first search by owner: the vertices of a graph belong to ranks, each with a GPU.
#pragma once

#include "apps/breadth_first/owner_state.cuh"
#include "apps/breadth_first/partition.hpp"

#include <warden/buffer.hpp>
#include <warden/communicator.hpp>
#include <warden/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <vector>

namespace breadth_first {

/// Rows name their neighbours from the highest degree on. So of an R-MAT graph of 2^22 vertices and
/// 2^26 edges, an unvisited vertex looks at 3 neighbours when 1/15 of the arcs leave the frontier:
/// levels are bottom-up from a smaller frontier on than in searches by one GPU.
inline constexpr direction_choice owner_direction{.alpha = 28, .beta = 24};

/// Course of a search by owner.
struct owner_facts {
  std::uint32_t levels = 0;     ///< that have vertices, that of the source included
  std::uint32_t bottom_up = 0;  ///< number of these that ran bottom-up
  std::uint32_t steps = 0;      ///< exchanges between ranks
};

/// Seconds of the parts of a step; 0 on the simulated device.
struct step_times {
  double go, exchange, merge;
};

/// Levels and parents of all vertices, on the host; `unreached` for vertices that were not reached.
struct owner_answer {
  std::vector<std::uint32_t> levels, parents;

  explicit owner_answer(std::uint64_t vertices)
      : levels(vertices, unreached), parents(vertices, unreached) {}
};

/// One rank's part in searches of one graph. All ranks construct it and call `find` alike.
class owner_searcher {
 public:
  /// `out` has the arcs that leave each vertex of the whole graph, `in` the arcs that come to it;
  /// both may be one object. Only this rank's rows are kept, in device memory. `p` outlives the
  /// searcher. Throws limit_error if the graph has 2^32 arcs or more, or `p` is for another number
  /// of ranks; cuda_error when memory is short.
  owner_searcher(warden::communicator world, partition const& p, graph::csr const& out,
                 graph::csr const& in, direction_choice const& choice = owner_direction,
                 std::source_location where = std::source_location::current());

  /// Searches from vertex `source`, after the work enqueued in the default stream. Collective;
  /// blocks the host. Throws limit_error if there is no such vertex, and communicator_error if
  /// another rank fails or does not come.
  void find(graph::vertex source, std::source_location where = std::source_location::current());
  /// Searches as `find` does, and measures each of the first `most` steps on this rank's GPU. These
  /// take longer.
  std::vector<step_times> find_and_measure(
      graph::vertex source, std::size_t most,
      std::source_location where = std::source_location::current());

  [[nodiscard]] owner_facts const& facts() const { return facts_; }
  /// Bytes that each rank sends in a step.
  [[nodiscard]] std::uint64_t sent_bytes() const {
    return state_.sent_words() * sizeof(std::uint32_t);
  }
  /// Writes levels and parents of this rank's vertices into the answer for the whole graph. Ranks
  /// may write concurrently.
  void write_to(owner_answer& all) const;

 private:
  /// Rows of this rank's vertices.
  struct device_rows {
    warden::buffer<std::uint64_t> offsets;
    warden::buffer<graph::vertex> neighbours;

    explicit device_rows(graph::csr const& rows);
    [[nodiscard]] graph::csr_view view() const;
  };
  struct pinned_deleter {
    void operator()(owner_control* memory) const { warden::runtime::deallocate_pinned(memory); }
  };

  struct step_clocks {
    warden::timer go, exchange, merge;
  };

  /// Measures the first steps, one for each of `clocks`.
  void search(graph::vertex source, std::span<step_clocks> clocks, std::source_location where);
  void enqueue_step(std::uint32_t step, step_clocks* clocks, std::source_location where);

  warden::communicator world_;
  partition const& parts_;
  device_rows out_;
  std::unique_ptr<device_rows> in_;  ///< null if each arc has one back
  std::uint32_t hubs_;               ///< number of hubs of each rank, see `most_arcs_searched`
  warden::buffer<std::uint32_t> arcs_of_words_, levels_, parents_, seen_[2], gathered_;
  warden::buffer<simt::flit_words> queue_;
  warden::buffer<owner_control> control_;
  std::unique_ptr<owner_control, pinned_deleter> on_host_;
  owner_state state_;
  unsigned level_blocks_, merge_blocks_;
  graph::vertex source_ = graph::no_vertex;
  owner_facts facts_;
};

}  // namespace breadth_first
