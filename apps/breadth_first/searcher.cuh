// SPDX-License-Identifier: Apache-2.0
/// @file
/// Breadth-first search: levels and parents of all vertices that can be reached from one vertex.
#pragma once

#include "apps/breadth_first/arms.cuh"

#include <warden/buffer.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

namespace breadth_first {

/// Options of a search. Levels do not depend on them.
struct search_options {
  direction_choice direction{};
  /// Places of a queue. 0: the places of all rows for arms that queue every vertex once; for others
  /// twice as many, plus one per arc of a small graph.
  std::uint64_t capacity = 0;
};

/// Facts of a search.
struct search_facts {
  std::uint32_t levels = 0;       ///< levels with vertices, including that of the source
  std::uint32_t alone = 0;        ///< number of these that one block ran by itself
  std::uint32_t bottom_up = 0;    ///< number of these that ran bottom-up
  std::uint64_t found = 0;        ///< vertices queued, with repetitions
  std::uint64_t most_places = 0;  ///< most places of a queue
};

/// Searches one graph from any vertex. Allocates all memory in the constructor.
class searcher {
 public:
  /// Constructs a searcher. `out` has the arcs that leave each vertex. `in` has the arcs that come
  /// to it, for arms that need them; it may be `out` if every arc has a reverse arc. Both outlive
  /// the searcher. Throws limit_error for a graph of 2^32 arcs or more, if the sizes of `in` and
  /// `out` differ, or for an unknown arm, and cuda_error when memory is short.
  searcher(graph::csr_view const& out, graph::csr_view const& in, std::string const& arm,
           search_options const& o = {},
           std::source_location where = std::source_location::current());

  /// Searches from `source`, after the work in the default stream. Blocks the host. Throws
  /// limit_error for a number that is no vertex, and if a queue was too small, with the places that
  /// were needed; the result is then invalid. Throws error if the device makes no progress.
  void find(std::uint32_t source, std::source_location where = std::source_location::current());

  [[nodiscard]] search_facts const& facts() const { return facts_; }
  /// Returns for each vertex, in device memory, the number of arcs from the source to it, or
  /// `unreached`.
  [[nodiscard]] std::uint32_t const* levels() const { return levels_.data(); }
  /// Returns for each vertex, in device memory, the vertex before it on such a path. The source is
  /// its own parent, and an unreached vertex has `unreached`.
  [[nodiscard]] std::uint32_t const* parents() const { return parents_.data(); }

 private:
  graph::csr_view out_;
  warden::buffer<std::uint32_t> levels_, parents_, visited_[2];
  warden::buffer<simt::flit_words> queues_[2];
  warden::buffer<control> control_;
  search_state state_;
  std::unique_ptr<arm> arm_;
  search_facts facts_;
};

}  // namespace breadth_first
