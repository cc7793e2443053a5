// SPDX-License-Identifier: Apache-2.0
// Searches by steps: memory and one launch.

#include "apps/shortest_paths/search.cuh"
#include "apps/shortest_paths/search_memory.cuh"
#include "apps/support/device.cuh"

#include <warden/cuda_names.cuh>

namespace shortest_paths {

namespace {

/// Searches from `source`. Precondition: the control is zeroed.
template <class Distance>
WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, blocks_together<Distance>)
    search_by_steps(WARDEN_GRID_CONSTANT search_state<Distance> const s, std::uint32_t source) {
  simt::assume_one_dimension();
  using block = search_block<Distance>;
  WARDEN_SHARED(typename block::storage, shared);
  block{s, shared}.run(source);
}

/// Returns the number of places of all rows.
std::uint64_t most_places(graph::csr_view const& rows) {
  return rows.vertices + rows.arcs / most_arcs_of_a_place;
}

template <class Distance>
class step_search final : public search_memory<Distance> {
 public:
  step_search(graph::csr_view const& rows, schedule const& how, std::uint32_t most_steps)
      : search_memory<Distance>{rows},
        lowest_{how.scans ? 0 : rows.vertices},
        marks_{rows.vertices},
        far_{how.scans ? 0 : (how.buckets + 1) * rows.vertices},
        queues_{warden::buffer<simt::flit_words>{most_places(rows)},
                warden::buffer<simt::flit_words>{most_places(rows)}},
        control_{1},
        state_{rows,
               this->distances().data(),
               marks_.data(),
               {queues_[0].data(), queues_[1].data()},
               lowest_.data(),
               far_.data(),
               control_.data(),
               how,
               most_steps} {}

  search_outcome search(graph::vertex source) override {
    control_.fill_bytes(0);
    search_state<Distance> state = state_;
    void* arguments[] = {&state, &source};
    warden::runtime::launch(kernel_, {blocks_, search_threads, 0, true}, arguments, {});
    control const c = control_.to_host()[0];
    search_outcome o{c.too_far != 0, "", {}};
    if (c.barrier.failed != 0) o.failure = apps::error_text(c.barrier.first);
    if (c.endless != 0) {
      o.failure = "the search from vertex " + std::to_string(source) +
                  " does not end: given up after " + std::to_string(c.steps) + " steps with " +
                  std::to_string(c.places) + " places queued";
    }
    unsigned const bits = 8 * sizeof(Distance);
    o.facts = {.bits = bits,
               .steps = c.steps,
               .expansions = c.expansions,
               .refills = c.refills,
               .places = c.places,
               .arcs = c.arcs,
               .delta = c.shift < bits ? std::uint64_t{1} << c.shift : 0};
    return o;
  }

 private:
  warden::buffer<Distance> lowest_;
  warden::buffer<std::uint32_t> marks_, far_;
  warden::buffer<simt::flit_words> queues_[2];
  warden::buffer<control> control_;
  search_state<Distance> state_;
  warden::runtime::kernel kernel_ = simt::make_kernel(&search_by_steps<Distance>);
  unsigned blocks_ = apps::cooperative_blocks(kernel_, search_threads, 0);
};

}  // namespace

template <class Distance>
std::unique_ptr<search_memory<Distance>> make_step_search(graph::csr_view const& rows,
                                                          schedule const& how,
                                                          std::uint32_t most_steps) {
  return std::make_unique<step_search<Distance>>(rows, how, most_steps);
}
template std::unique_ptr<search_memory<std::uint32_t>> make_step_search(graph::csr_view const&,
                                                                        schedule const&,
                                                                        std::uint32_t);
template std::unique_ptr<search_memory<std::uint64_t>> make_step_search(graph::csr_view const&,
                                                                        schedule const&,
                                                                        std::uint32_t);

}  // namespace shortest_paths
