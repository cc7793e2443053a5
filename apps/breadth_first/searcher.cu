// SPDX-License-Identifier: Apache-2.0
// Host part of a search: memory, one launch, and the results.

#include "apps/breadth_first/searcher.cuh"

#include <warden/error.hpp>

#include <algorithm>

namespace breadth_first {

namespace {

graph::csr_view checked(graph::csr_view const& out, graph::csr_view const& in,
                        std::source_location where) {
  auto const number = [](auto n) { return std::to_string(n); };
  if (out.arcs >= std::uint64_t{1} << 32) {
    throw warden::limit_error{
        "breadth_first: " + number(out.arcs) + " arcs; the limit is 4294967295", where};
  }
  if (in.vertices != out.vertices || in.arcs != out.arcs) {
    throw warden::limit_error{"breadth_first: " + number(in.arcs) + " arcs come to " +
                                  number(in.vertices) + " vertices, but " + number(out.arcs) +
                                  " leave " + number(out.vertices),
                              where};
  }
  return out;
}

/// Returns the number of places of all rows.
std::uint64_t most_places(graph::csr_view const& g) {
  return g.vertices + g.arcs / most_arcs_of_a_place;
}

std::uint64_t capacity_of(graph::csr_view const& g, std::string const& arm, std::uint64_t asked) {
  if (asked != 0) return asked;
  if (is_exact(arm)) return most_places(g);
  // All arcs of a small graph may be followed concurrently, and each may queue its end.
  constexpr std::uint64_t at_once = 1 << 20;
  return 2 * most_places(g) + std::min(g.arcs, at_once);
}

}  // namespace

searcher::searcher(graph::csr_view const& out, graph::csr_view const& in, std::string const& arm,
                   search_options const& o, std::source_location where)
    : out_{checked(out, in, where)},
      levels_{out.vertices},
      parents_{out.vertices},
      visited_{warden::buffer<std::uint32_t>{words_of(out.vertices)},
               warden::buffer<std::uint32_t>{words_of(out.vertices)}},
      queues_{warden::buffer<simt::flit_words>{capacity_of(out, arm, o.capacity)},
              warden::buffer<simt::flit_words>{capacity_of(out, arm, o.capacity)}},
      control_{1},
      state_{out,
             in,
             levels_.data(),
             parents_.data(),
             {visited_[0].data(), visited_[1].data()},
             {queues_[0].data(), queues_[1].data()},
             queues_[0].size(),
             control_.data(),
             o.direction},
      arm_{make_arm(arm, state_, where)} {}

void searcher::find(std::uint32_t source, std::source_location where) {
  if (source >= out_.vertices) {
    throw warden::limit_error{"breadth_first: the source is vertex " + std::to_string(source) +
                                  ", which is not below " + std::to_string(out_.vertices) +
                                  ", the number of vertices",
                              where};
  }
  control_.fill_bytes(0);
  arm_->search(state_, source);
  control const c = control_.to_host()[0];
  if (c.barrier.failed != 0)
    throw warden::error{"breadth_first: " + apps::error_text(c.barrier.first), where};
  if (c.most_places > state_.capacity) {
    throw warden::limit_error{"breadth_first: a queue of " + std::to_string(c.most_places) +
                                  " places, as vertices were queued more than once; there is room "
                                  "for " +
                                  std::to_string(state_.capacity),
                              where};
  }
  facts_ = {c.levels, c.alone, c.bottom_up, c.found, c.most_places};
}

}  // namespace breadth_first
