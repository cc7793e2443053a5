// SPDX-License-Identifier: Apache-2.0
// Searches by a decoupled worklist: memory and launches.

#include "apps/shortest_paths/search_memory.cuh"
#include "apps/shortest_paths/worklist_search.cuh"
#include "apps/support/device.cuh"

#include <warden/error.hpp>

#include <algorithm>
#include <bit>

namespace shortest_paths {

namespace {

/// Returns the segments that are in use together, at most: of the vertices, of which each is in at
/// most one bucket; for each bucket the segment that is being filled, the one that is being
/// emptied and those in advance; and for each worker one.
std::uint32_t most_segments(graph::csr_view const& rows, unsigned blocks) {
  return static_cast<std::uint32_t>(rows.vertices / segment_entries + 1 +
                                    (segments_ahead + 3) * worklist_buckets + blocks);
}

template <class Distance>
class worklist_search final : public search_memory<Distance> {
 public:
  worklist_search(graph::csr_view const& rows, schedule const& how, std::source_location where)
      : search_memory<Distance>{rows},
        segments_{most_segments(rows, checked(rows, blocks_, where))},
        table_size_{std::bit_ceil(segments_)},
        words_{rows.vertices},
        entries_{segments_ * std::size_t{segment_entries}},
        written_{segments_},
        read_{segments_},
        free_{segments_},
        table_{worklist_buckets * std::size_t{table_size_}},
        assigned_{blocks_},
        control_{1},
        state_{rows,
               words_.data(),
               this->distances().data(),
               entries_.data(),
               written_.data(),
               read_.data(),
               free_.data(),
               table_.data(),
               assigned_.data(),
               segments_,
               table_size_,
               std::min(how.shift, most_shift<Distance>),
               how.adapts,
               how.local_iterations,
               control_.data()} {}

  search_outcome search(graph::vertex source) override {
    control_.fill_bytes(0);
    assigned_.fill_bytes(0);
    worklist_control first{};
    first.freed.n = segments_;
    warden::copy(control_.data(), &first, 1);
    warden::launch(&begin_worklist<Distance>, apps::blocks(), apps::threads(), {}, state_, source);
    worklist_state<Distance> state = state_;
    void* arguments[] = {&state, &source};
    warden::runtime::launch(kernel_, {blocks_, search_threads, 0, true}, arguments, {});
    warden::launch(&write_distances<Distance>, apps::blocks(), apps::threads(), {}, state_);
    worklist_control const c = control_.to_host()[0];
    search_outcome o{c.too_far != 0, "", {}};
    if (c.failed != 0) {
      o.failure = "the worklist made no progress in 10000 ms; " + std::to_string(c.entries) +
                  " vertices have been put into it";
    }
    o.facts = {.bits = 8 * sizeof(Distance),
               .steps = c.switches,
               .expansions = c.assignments,
               .places = c.entries,
               .delta = std::uint64_t{1} << c.shift};
    return o;
  }

 private:
  static unsigned checked(graph::csr_view const& rows, unsigned blocks,
                          std::source_location where) {
    if (rows.vertices > most_listed_vertices) {
      throw warden::limit_error{"shortest_paths: " + std::to_string(rows.vertices) +
                                    " vertices; the limit of the arm decoupled is " +
                                    std::to_string(most_listed_vertices),
                                where};
    }
    if (blocks < 2) {
      throw warden::limit_error{
          "shortest_paths: only one block is resident on this device; the arm decoupled needs 2",
          where};
    }
    return blocks;
  }

  warden::runtime::kernel kernel_ = simt::make_kernel(&search_worklist<Distance>);
  unsigned blocks_ = apps::cooperative_blocks(kernel_, search_threads, 0);
  std::uint32_t segments_, table_size_;
  warden::buffer<Distance> words_;
  warden::buffer<std::uint32_t> entries_, written_, read_;
  warden::buffer<std::uint64_t> free_, table_, assigned_;
  warden::buffer<worklist_control> control_;
  worklist_state<Distance> state_;
};

}  // namespace

template <class Distance>
std::unique_ptr<search_memory<Distance>> make_worklist_search(graph::csr_view const& rows,
                                                              schedule const& how,
                                                              std::source_location where) {
  return std::make_unique<worklist_search<Distance>>(rows, how, where);
}
template std::unique_ptr<search_memory<std::uint32_t>> make_worklist_search(graph::csr_view const&,
                                                                            schedule const&,
                                                                            std::source_location);
template std::unique_ptr<search_memory<std::uint64_t>> make_worklist_search(graph::csr_view const&,
                                                                            schedule const&,
                                                                            std::source_location);

}  // namespace shortest_paths
