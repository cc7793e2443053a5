// SPDX-License-Identifier: Apache-2.0
// Vertices are marked and queued by their owners. In each level a plain kernel defers sections, and
// the run of its log executes them.

#include "apps/breadth_first/arms.cuh"
#include "apps/breadth_first/begin.cuh"
#include "apps/breadth_first/gather.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace breadth_first {

namespace {

/// Critical section: an arc reaches a vertex. The record is the vertex's level.
struct reach {
  std::uint32_t vertex;
  std::uint32_t parent;

  WARDEN_DEVICE void operator()(std::uint32_t& level, search_state const& s) const {
    if (level != unreached) return;
    control& c = *s.control;
    level = c.levels;  // number of the level that follows the last one
    s.parents[vertex] = parent;
    row const its = row_of(s.out, vertex);
    // A row without arcs also has a place, so that its level is counted.
    std::uint32_t const count = its.arcs == 0 ? 1 : places_of(its.arcs);
    std::uint64_t* const end = &c.ends[c.levels % 3].places;
    std::uint64_t at =
        count == 1 ? simt::fetch_add_together(end, 1) : simt::fetch_add(end, std::uint64_t{count});
    for (std::uint32_t p = 0; p < count; ++p, ++at) {
      if (at < s.capacity)
        simt::store_flit(&s.queue_of(c.levels)[at], part_of(vertex, its, p).words(), false);
    }
    simt::add_together(&c.found, 1);
  }
};

/// Simulated threads are slow, so the simulated device has fewer.
using marks_policy =
    warden::policy<warden::options{.block_threads = simt::has_registers ? 256 : 32},
                   warden::context<search_state>>;
using guarded = warden::basic_guarded<marks_policy, std::uint32_t, reach>;
using client = guarded::deferred_block<search_threads>;

WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, 2)
    begin_levels(WARDEN_GRID_CONSTANT search_state const s, std::uint32_t source) {
  simt::assume_one_dimension();
  begin_search(s, source);
  if (simt::block_rank() != 0 || simt::thread_rank() != 0) return;
  std::uint32_t const places = places_of(row_of(s.out, source).arcs);
  s.control->ends[0].places = places == 0 ? 1 : places;
  s.control->found = 1;
  if (places == 0) simt::store_flit(&s.queues[0][0], place{source, 0, 0}.words(), false);
}

/// Runs the first half of a level, whose number modulo 6 is `turn`: sends each arc to a vertex that
/// earlier levels have not reached. No thread changes levels here, so loads are plain.
WARDEN_KERNEL void WARDEN_BOUNDS(search_threads, 2)
    send_level(WARDEN_GRID_CONSTANT guarded::deferred_ref const to,
               WARDEN_GRID_CONSTANT search_state const s, std::uint32_t turn) {
  simt::assume_one_dimension();
  control& c = *s.control;
  std::uint64_t const n = c.ends[turn % 3].places;
  if (simt::block_rank() == 0 && simt::thread_rank() == 0) {
    c.ends[(turn + 2) % 3].places = 0;
    if (n > c.most_places) c.most_places = n;
    if (n != 0) ++c.levels;
  }
  if (n == 0 || n > s.capacity) return;
  WARDEN_SHARED(gather_by_all::storage, shared);
  client all{to, *reinterpret_cast<client::storage*>(simt::dynamic_shared())};
  gather_by_all gather{shared};
  std::uint64_t const block = simt::block_rank(), blocks = simt::block_count();
  std::uint64_t const end = n * (block + 1) / blocks;
  for (std::uint64_t first = n * block / blocks; first < end; first += search_threads) {
    std::uint64_t const i = first + simt::thread_rank();
    gather.start(i < end ? place::of(simt::load_flit(&s.queue_of(turn)[i])) : place{0, 0, 0});
    some_arcs arcs;
    while (gather.next(arcs)) {
      std::uint32_t v[arcs_at_once], level[arcs_at_once];
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k)
        v[k] = arcs.is_one[k] ? s.out.neighbours[arcs.arc[k]] : 0;
      WARDEN_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k) level[k] = arcs.is_one[k] ? s.levels[v[k]] : 0;
      // Not unrolled, because copies of the client's code would be too large. The arcs are shifted
      // instead of indexed, to stay in registers.
      WARDEN_NO_UNROLL
      for (unsigned k = 0; k < arcs_at_once; ++k) {
        bool const is_new = level[0] == unreached;
        all.send(v[0], reach{v[0], is_new ? gather.from(k) : 0}, is_new);
        WARDEN_UNROLL
        for (unsigned i = 1; i < arcs_at_once; ++i) {
          v[i - 1] = v[i];
          level[i - 1] = level[i];
        }
      }
    }
  }
  all.flush();
}

/// Enqueues several levels at a time, as one captured graph. The host reads the results after each
/// graph.
class warden_arm final : public arm {
 public:
  explicit warden_arm(search_state const& s)
      : guarded_{s.levels, s.out.vertices, s},
        // Each arc is followed once, so the log has room for all arcs.
        log_{guarded_, std::max<std::size_t>(s.out.arcs, 1)} {}

  void search(search_state const& s, std::uint32_t source) override {
    warden::launch(&begin_levels, blocks_, search_threads, {}, s, source);
    warden::stream_ref{}.synchronize();
    std::uint64_t left = 0;
    do {
      enqueue(s);
      warden::copy(&left, &s.control->ends[0].places, 1, stream_);
      guarded_.wait(stream_);
    } while (left != 0 && left <= s.capacity);
  }

 private:
  /// Enqueues the levels. The first time they are not captured, so that kernels are loaded.
  void enqueue(search_state const& s) {
    if (captured_) return captured_->launch(stream_);
    enqueue_levels(s);
    captured_ = warden::graph::capture(stream_, [&] { enqueue_levels(s); });
  }
  void enqueue_levels(search_state const& s) {
    // A multiple of the periods of queues and of their counts, so that each graph begins with the
    // same ones.
    constexpr std::uint32_t levels = simt::has_registers ? 24 : 6;
    for (std::uint32_t turn = 0; turn < levels; ++turn) {
      warden::launch(&send_level, {blocks_, search_threads, shared_bytes}, stream_, log_.ref(), s,
                     turn % 6);
      log_.run(stream_);
    }
  }

  warden::stream stream_;  ///< the default one cannot be captured
  guarded guarded_;
  warden::deferred<marks_policy, std::uint32_t, reach> log_;
  std::optional<warden::graph> captured_;
  static constexpr std::size_t shared_bytes = sizeof(client::storage);
  unsigned blocks_ = search_blocks(simt::make_kernel(&send_level), shared_bytes);
};

}  // namespace

std::unique_ptr<arm> make_warden_arm(search_state const& s) {
  return std::make_unique<warden_arm>(s);
}

}  // namespace breadth_first
