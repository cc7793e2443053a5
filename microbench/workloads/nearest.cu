// SPDX-License-Identifier: Apache-2.0
// Lists of the 32 nearest candidates: by a lock after a check, by a sort of the candidates, and by
// Warden.

#include "microbench/wide_records/neighbour_oracle.cuh"
#include "microbench/workloads/locks.cuh"
#include "microbench/workloads/points.hpp"
#include "microbench/workloads/sorted_rows.cuh"
#include "microbench/workloads/work_point.hpp"

#include <warden/deferred.cuh>

#include <cstdint>
#include <memory>
#include <utility>

namespace workloads {
namespace {

using wide_records::neighbour_list;
using insert = wide_records::insert_together<32>;

/// Makes candidate i, of 2^28 possible ones.
struct make_insert {
  __device__ insert operator()(std::uint32_t i) const {
    auto const id = static_cast<std::uint32_t>(bench::mix(i, 22) >> 36);
    return {{id, static_cast<std::uint32_t>(bench::mix(id, 13) >> 40)}};
  }
};
/// Calls `f(lane)` by all lanes for each lane whose `value` is true.
template <class F>
WARDEN_DEVICE void for_each_of_lanes(warden::lane_group<32> const& group, bool value, F f) {
  for (unsigned left = group.ballot(value); left != 0; left &= left - 1)
    f(static_cast<unsigned>(simt::first_bit(left)));
}
WARDEN_DEVICE insert from_lane(warden::lane_group<32> const& group, insert const& candidate,
                               unsigned lane) {
  return {{group.shuffle(candidate.id, lane), group.shuffle(candidate.distance, lane)}};
}

/// Lists as kernels see them. Candidate i is for list `ids[i]`.
struct list_rows {
  std::uint32_t const* ids;
  std::uint32_t n, n_lists;
  neighbour_list* lists;
};
class nearest_work {
 public:
  explicit nearest_work(size const& s) : ids_{draw_ids(s)}, lists_{s.keys}, oracle_{s.keys} {}
  [[nodiscard]] list_rows rows() const {
    return {ids_.data(), static_cast<std::uint32_t>(ids_.size()),
            static_cast<std::uint32_t>(lists_.size()), lists_.data()};
  }
  void reset() { oracle_.reset(lists_); }
  bool is_right() { return oracle_.verify(ids_, rows().n, lists_); }

 private:
  warden::buffer<std::uint32_t> ids_;
  warden::buffer<neighbour_list> lists_;
  wide_records::neighbour_oracle<make_insert> oracle_;
};

struct locked_insertions {
  list_rows rows;
  std::uint32_t* locks;
};
/// Each lane tests a candidate, and the warp takes the locks of the lists that may take theirs.
WARDEN_KERNEL void insert_under_locks(locked_insertions const a) {
  simt::assume_one_dimension();
  warden::lane_group<32> const group;
  bench::for_each_of((a.rows.n + 31u) / 32 * 32, [&](std::uint64_t k) {
    auto const i = static_cast<std::uint32_t>(k);
    bool const is_one = i < a.rows.n;
    std::uint32_t const id = a.rows.ids[is_one ? i : 0];
    insert const candidate = make_insert{}(i);
    bool const wants = is_one && !candidate.never_changes(a.rows.lists[id]);
    for_each_of_lanes(group, wants, [&](unsigned lane) {
      insert const next = from_lane(group, candidate, lane);
      std::uint32_t const list = group.shuffle(id, lane);
      run_under_lock(a.locks + list, group, [&] { next(a.rows.lists[list], group); });
    });
  });
}
arm make_lock_checked(nearest_work& w) {
  auto const locks = std::make_shared<warden::buffer<std::uint32_t>>(w.rows().n_lists);
  locks->fill_bytes(0);
  return {[=, r = w.rows()] {
    launch_resident(&insert_under_locks, arm_threads(256), 0, {r, locks->data()});
  }};
}

/// Candidates sorted by list, and the lists.
struct segment_insertions {
  std::uint32_t const *ids, *order;
  std::uint32_t n;
  neighbour_list* lists;
};
/// A warp inserts the candidates of a list. Each lane tests one of 32 candidates, and the warp
/// inserts those that the list may take.
WARDEN_KERNEL void insert_segments(segment_insertions const a) {
  simt::assume_one_dimension();
  warden::lane_group<32> const group;
  std::uint32_t p = (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / 32;
  if (p >= a.n) return;
  std::uint32_t const id = a.ids[p];
  if (p != 0 && a.ids[p - 1] == id) return;
  neighbour_list& list = a.lists[id];
  for (bool more = true; more; p += 32) {
    bool const mine = p + group.lane() < a.n && a.ids[p + group.lane()] == id;
    insert const candidate = make_insert{}(mine ? a.order[p + group.lane()] : 0);
    more = group.all(mine);
    for_each_of_lanes(group, mine && !candidate.is_noop(list), [&](unsigned lane) {
      from_lane(group, candidate, lane)(list, group);
      group.sync();
    });
  }
}
arm make_sort_segments(nearest_work& w) {
  auto const order = std::make_shared<row_order>(w.rows().n, w.rows().n_lists);
  return {[=, r = w.rows()] {
    order->sort_async(r.ids);
    unsigned const warps = arm_threads(sum_threads) / 32;
    simt::launch(&insert_segments, (r.n + warps - 1) / warps, warps * 32, 0,
                 {order->ids(), order->order(), r.n, r.lists}, {});
  }};
}

using graph = warden::guarded<neighbour_list, insert>;
struct graph_log {
  explicit graph_log(list_rows const& r) : on{r.lists, r.n_lists}, log{on, r.n} {}
  graph on;
  warden::deferred<warden::policy<>, neighbour_list, insert> log;
};
void send_candidates(graph_log& by, list_rows const& r) {
  warden::send_async(by.log, r.n, [=] __device__(std::uint64_t i) {
    return warden::to{r.ids[i], make_insert{}(static_cast<std::uint32_t>(i))};
  });
  by.log.run();
}
arm make_warden(nearest_work& w) {
  auto const by = std::make_shared<graph_log>(w.rows());
  return {[=, r = w.rows()] { send_candidates(*by, r); }, [=] { by->on.wait(); }};
}
void apply_candidates(graph& on, list_rows const& r) {
  on.apply_async(r.ids, r.n, [=] __device__(std::uint64_t i) {
    return make_insert{}(static_cast<std::uint32_t>(i));
  });
}
arm make_warden_bulk(nearest_work& w) {
  auto const on = std::make_shared<graph>(w.rows().lists, w.rows().n_lists);
  return {[=, r = w.rows()] { apply_candidates(*on, r); }, [=] { on->wait(); }};
}

}  // namespace

std::shared_ptr<bench::point> make_nearest_point(size const& s) {
  return make_point<nearest_work>({"nearest",
                                   s.workload,
                                   s.keys,
                                   s.rows,
                                   {{"lock_warp_checked", make_lock_checked},
                                    {"sort_segments", make_sort_segments},
                                    {"warden", make_warden},
                                    {"warden_bulk", make_warden_bulk}},
                                   [s] { return std::make_unique<nearest_work>(s); }});
}

}  // namespace workloads
