// SPDX-License-Identifier: Apache-2.0
// Kernels of a search by owner, and the host's part: steps are enqueued some at a time.

#include "apps/breadth_first/owner_searcher.cuh"

#include "apps/breadth_first/arms.cuh"
#include "apps/breadth_first/owner_level.cuh"
#include "apps/breadth_first/owner_merge.cuh"

#include <warden/cuda_names.cuh>
#include <warden/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace breadth_first {

namespace {

WARDEN_KERNEL void begin_owner_search(WARDEN_GRID_CONSTANT owner_state const s,
                                      std::uint32_t source) {
  simt::assume_one_dimension();
  apps::for_my_share(s.owned, [&](std::uint64_t at) {
    bool const is_source = s.first() + at == source;
    simt::store_relaxed(&s.levels[at], is_source ? 0 : unreached);
    simt::store_relaxed(&s.parents[at], is_source ? source : unreached);
  });
  apps::for_my_share(s.all_words(), [&](std::uint64_t w) {
    std::uint32_t const bits = w == source / 32 ? bit_of(source) : 0;
    simt::store_relaxed(&s.seen[0][w], bits);
    simt::store_relaxed(&s.sent()[w], bits);
  });
  if (simt::block_rank() != 0) return;
  std::uint32_t const at = source - s.first();
  row const its = at < s.owned ? row_of(s.out, at) : row{0, 0};
  for (std::uint32_t p = simt::thread_rank(); p < places_of(its.arcs); p += simt::block_threads())
    simt::store_flit(&s.queue[p], part_of(source, its, p).words(), false);
  if (simt::thread_rank() != 0) return;
  owner_control& c = *s.control;
  c.progress[0] = begin_progress(s.arcs_of_words[source / 32] / 32);
  c.sums[0] = {};
  // The values of step -1.
  c.sums[2] = {};
  c.sums[2].places = places_of(its.arcs);
  c.sums[2].queued_arcs = its.arcs;
}

WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, 3)
    go_one_level(WARDEN_GRID_CONSTANT owner_state const s, std::uint32_t step) {
  simt::assume_one_dimension();
  WARDEN_SHARED(owner_block::storage, shared);
  owner_block{s, step, shared}.run();
}

WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, 3)
    merge_bitmaps(WARDEN_GRID_CONSTANT owner_state const s, std::uint32_t step) {
  simt::assume_one_dimension();
  WARDEN_SHARED(merging_block::storage, shared);
  merging_block{s, step, shared}.run();
}

partition const& checked(partition const& p, graph::csr const& out, int ranks,
                         std::source_location where) {
  if (out.arcs() >= std::uint64_t{1} << 32) {
    throw warden::limit_error{
        "breadth_first: " + std::to_string(out.arcs()) + " arcs; the limit is 4294967295", where};
  }
  if (p.ranks != static_cast<std::uint32_t>(ranks)) {
    throw warden::limit_error{"breadth_first: the vertices are divided among " +
                                  std::to_string(p.ranks) + " ranks, and the communicator has " +
                                  std::to_string(ranks),
                              where};
  }
  return p;
}

/// Enqueues a part of a step, between the events of a clock if there is one.
template <class Part>
void timed(warden::timer* clock, Part part) {
  if (clock != nullptr) clock->start();
  part();
  if (clock != nullptr) clock->stop();
}

}  // namespace

owner_searcher::device_rows::device_rows(graph::csr const& rows)
    : offsets{rows.offsets}, neighbours{rows.neighbours} {}

graph::csr_view owner_searcher::device_rows::view() const {
  return {offsets.size() - 1,
          neighbours.size(),
          offsets.data(),
          neighbours.data(),
          nullptr,
          nullptr,
          nullptr};
}

owner_searcher::owner_searcher(warden::communicator world, partition const& p,
                               graph::csr const& out, graph::csr const& in,
                               direction_choice const& choice, std::source_location where)
    : world_{std::move(world)},
      parts_{checked(p, out, world_.size(), where)},
      out_{owned_rows(out, p, static_cast<std::uint32_t>(world_.rank()))},
      in_{&in == &out ? nullptr
                      : std::make_unique<device_rows>(
                            owned_rows(in, p, static_cast<std::uint32_t>(world_.rank())))},
      hubs_{places_above(in, p, most_arcs_searched)},
      arcs_of_words_{breadth_first::arcs_of_words(out, p)},
      levels_{p.places()},
      parents_{p.places()},
      seen_{warden::buffer<std::uint32_t>{arcs_of_words_.size()},
            warden::buffer<std::uint32_t>{arcs_of_words_.size()}},
      gathered_{sent_words(p.words, hubs_, p.ranks) * p.ranks},
      // Each vertex is queued once in a level.
      queue_{p.places() + out_.neighbours.size() / most_arcs_of_a_place},
      control_{1},
      on_host_{static_cast<owner_control*>(
          warden::runtime::allocate_pinned(sizeof(owner_control), where))},
      state_{out_.view(),
             in_ ? in_->view() : out_.view(),
             std::accumulate(p.owned.begin(), p.owned.end(), std::uint64_t{0}),
             out.arcs(),
             p.ranks,
             static_cast<std::uint32_t>(world_.rank()),
             p.words,
             p.owned[static_cast<std::size_t>(world_.rank())],
             hubs_,
             arcs_of_words_.data(),
             levels_.data(),
             parents_.data(),
             {seen_[0].data(), seen_[1].data()},
             gathered_.data(),
             queue_.data(),
             control_.data(),
             choice},
      level_blocks_{search_blocks(simt::make_kernel(&go_one_level), 0)},
      merge_blocks_{search_blocks(simt::make_kernel(&merge_bitmaps), 0)} {}

/// Follows arcs, exchanges bitmaps, with parents of hubs, and merges them. The size of the exchange
/// does not depend on the result, so the host need not know it.
void owner_searcher::enqueue_step(std::uint32_t step, step_clocks* clocks,
                                  std::source_location where) {
  warden::located_stream const in{warden::stream_ref{}, where};
  timed(clocks == nullptr ? nullptr : &clocks->go,
        [&] { warden::launch(&go_one_level, level_blocks_, search_threads, in, state_, step); });
  timed(clocks == nullptr ? nullptr : &clocks->exchange, [&] {
    if (state_.ranks == 1) return;
    world_.transport().all_gather(state_.sent(), gathered_.data(), sent_bytes(), {}, where);
  });
  timed(clocks == nullptr ? nullptr : &clocks->merge,
        [&] { warden::launch(&merge_bitmaps, merge_blocks_, search_threads, in, state_, step); });
}

void owner_searcher::find(graph::vertex source, std::source_location where) {
  search(source, {}, where);
}

std::vector<step_times> owner_searcher::find_and_measure(graph::vertex source, std::size_t most,
                                                         std::source_location where) {
  std::vector<step_clocks> clocks(most);
  search(source, clocks, where);
  std::vector<step_times> times;
  for (std::size_t step = 0; step < std::min<std::size_t>(most, facts_.steps); ++step) {
    step_clocks const& of = clocks[step];
    times.push_back(
        {of.go.result().seconds, of.exchange.result().seconds, of.merge.result().seconds});
  }
  return times;
}

void owner_searcher::search(graph::vertex source, std::span<step_clocks> clocks,
                            std::source_location where) {
  if (source >= parts_.numbers.size()) {
    throw warden::limit_error{"breadth_first: the source is vertex " + std::to_string(source) +
                                  ", which is not below " + std::to_string(parts_.numbers.size()) +
                                  ", the number of vertices",
                              where};
  }
  source_ = source;
  facts_ = {1, 0, 0};
  if (!parts_.has(source)) return;
  warden::launch(&begin_owner_search, apps::blocks(), apps::threads(),
                 {warden::stream_ref{}, where}, state_, parts_.numbers[source]);
  std::uint32_t steps = 0;
  owner_progress now;
  do {
    // Most graphs with wide levels take fewer than the first batch. A step too many costs an
    // exchange, a batch too many a wait of the host.
    std::uint32_t const batch = steps == 0 ? 8 : std::clamp(steps / 2, 4u, 64u);
    for (std::uint32_t const end = steps + batch; steps != end; ++steps) {
      enqueue_step(steps, steps < clocks.size() ? &clocks[steps] : nullptr, where);
    }
    warden::copy(on_host_.get(), control_.data(), 1, {}, where);
    world_.transport().wait({}, where);
    now = on_host_->progress[steps % 2];
    add(now, on_host_->sums[(steps + 2) % 3]);
    choose(now, state_);
  } while (now.kind != owner_step::over);
  facts_ = {now.level, now.bottom_up, steps};
}

void owner_searcher::write_to(owner_answer& all) const {
  auto const levels = levels_.to_host(), parents = parents_.to_host();
  if (!parts_.has(source_)) {
    if (state_.rank == 0) {
      all.levels[source_] = 0;
      all.parents[source_] = source_;
    }
    return;
  }
  for (std::uint32_t at = 0; at < state_.owned; ++at) {
    if (levels[at] == unreached) continue;
    graph::vertex const v = parts_.vertices[state_.first() + at];
    all.levels[v] = levels[at];
    // A reached vertex whose parent is no vertex is for the check of the answer to report.
    if (parents[at] < parts_.vertices.size()) all.parents[v] = parts_.vertices[parents[at]];
  }
}

}  // namespace breadth_first
