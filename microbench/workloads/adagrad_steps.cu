// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad with a step for each gradient: by a lock for each row, by a sort of the
// gradients, and by Warden.

#include "microbench/workloads/adagrad.cuh"
#include "microbench/workloads/locks.cuh"
#include "microbench/workloads/points.hpp"
#include "microbench/workloads/work_point.hpp"

#include <warden/deferred.cuh>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace workloads {
namespace {

struct gradient_arguments {
  std::uint32_t const* ids;
  float* gradients;
  std::uint32_t n;
};
/// Draws gradients of 1 and -1. Those of one row are equal, so that the order of its steps does not
/// matter.
WARDEN_KERNEL void draw_gradients(gradient_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(std::uint64_t{a.n} * width, [&](std::uint64_t k) {
    std::uint64_t const place = std::uint64_t{a.ids[k / width]} * width + k % width;
    a.gradients[k] = bench::mix(place, 4) % 2 == 0 ? 1.f : -1.f;
  });
}
struct count_arguments {
  std::uint32_t const* ids;
  std::uint32_t n;
  std::uint32_t* counts;
};
WARDEN_KERNEL void count_rows(count_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) { simt::fetch_add(a.counts + a.ids[i], 1u); });
}
struct step_check {
  embedding const* weights;
  float const* state;
  std::uint32_t const* counts;
  float const* after;  ///< weight after this many steps with gradient 1
  std::uint64_t n;
  std::uint32_t* wrong;
};
WARDEN_KERNEL void compare_steps(step_check a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n * width, [&](std::uint64_t k) {
    std::uint32_t const steps = a.counts[k / width];
    float const weight = bench::mix(k, 4) % 2 == 0 ? a.after[steps] : -a.after[steps];
    if (a.weights[k / width].w[k % width] != weight ||
        a.state[k / width] != static_cast<float>(steps))
      simt::fetch_add(a.wrong, 1u);
  });
}

/// Gradients, weights and state, and the weights after each number of steps.
class step_work {
 public:
  explicit step_work(size const& s)
      : ids_{draw_ids(s)},
        gradients_{std::size_t{s.rows} * width},
        weights_{s.keys},
        state_{s.keys},
        counts_{s.keys} {
    launch_helper(&draw_gradients, {ids_.data(), gradients_.data(), s.rows});
    counts_.fill_bytes(0);
    launch_helper(&count_rows, {ids_.data(), s.rows, counts_.data()});
    auto const counts = counts_.to_host();
    std::uint32_t const most = *std::max_element(counts.begin(), counts.end());
    std::vector<float> after{0};
    for (std::uint32_t k = 1; k <= most; ++k)
      after.push_back(moved(after.back(), 1, static_cast<float>(k)));
    after_ = warden::buffer<float>{after};
  }
  [[nodiscard]] float_rows<width> rows() const {
    return {ids_.data(), gradients_.data(), static_cast<std::uint32_t>(ids_.size()),
            static_cast<std::uint32_t>(weights_.size())};
  }
  [[nodiscard]] parameter tensors() const {
    return {gradients_.data(), weights_.data(), state_.data()};
  }
  void reset() {
    weights_.fill_bytes(0);
    state_.fill_bytes(0);
  }
  bool is_right() {
    return finds_none_wrong(&compare_steps, {weights_.data(), state_.data(), counts_.data(),
                                             after_.data(), weights_.size(), nullptr});
  }

 private:
  warden::buffer<std::uint32_t> ids_;
  warden::buffer<float> gradients_;
  warden::buffer<embedding> weights_;
  warden::buffer<float> state_;
  warden::buffer<std::uint32_t> counts_;
  warden::buffer<float> after_{0};
};

/// Section: the step of one gradient.
struct step {
  static constexpr unsigned group_size = 32;
  std::uint32_t source;
  __device__ void operator()(embedding& e, parameter t, warden::record_id id,
                             warden::lane_group<32> const& group) const {
    run(e, t.state[id], t, group);
  }
  __device__ void run(embedding& e, float& state, parameter t,
                      warden::lane_group<32> const& group) const {
    auto const g = columns::load(t.gradients + std::uint64_t{source} * width, group.lane());
    float const before = state, after = before + mean_square(g, group);
    if (group.lane() == 0) state = after;
    columns w = columns::load(e.w, group.lane());
    move(w, g, after);
    w.store(e.w, group.lane());
  }
};
/// Section of one gradient, which is its payload. With groups of 8 lanes a warp has 4 steps in
/// progress, and repeats less work than larger groups. All lanes hold the state of a row.
struct row_step {
  static constexpr unsigned group_size = 8;
  using group = warden::lane_group<8>;
  struct copy {
    gradient_part<8> weights;
    float state;
  };
  std::uint32_t source;
  __device__ warden::row<float const, width> payload(parameter const& t) const {
    return {t.gradients, source};
  }
  __device__ static copy load_record(embedding const& e, parameter const& t, warden::record_id id,
                                     group const& lanes) {
    return {warden::row<float const, width>{e.w}.load(lanes), t.state[id]};
  }
  __device__ static void store_record(embedding& e, copy const& c, parameter const& t,
                                      warden::record_id id, group const& lanes) {
    warden::row<float, width>{e.w}.store(lanes, c.weights);
    if (lanes.lane() == 0) t.state[id] = c.state;
  }
  __device__ float prepare(gradient_part<8> const& g, group const& lanes) const {
    return mean_square(g, lanes);
  }
  __device__ void operator()(copy& c, gradient_part<8> const& g, float squares, parameter const&,
                             warden::record_id, group const&) const {
    c.state += squares;
    move(c.weights, g, c.state);
  }
};
using step_policy = warden::policy<warden::options{}, warden::context<parameter>>;
template <class Step>
using table = warden::basic_guarded<step_policy, embedding, Step>;

struct locked_arguments {
  float_rows<width> rows;
  parameter tensors;
  std::uint32_t* locks;
};
/// A warp for each gradient takes the lock of its row.
WARDEN_KERNEL void step_under_locks(locked_arguments const a) {
  simt::assume_one_dimension();
  warden::lane_group<32> const group;
  bench::for_each_of(std::uint64_t{a.rows.n} * 32, [&](std::uint64_t k) {
    auto const i = static_cast<std::uint32_t>(k / 32);
    std::uint32_t const id = a.rows.ids[i];
    run_under_lock(a.locks + id, group, [&] {
      step{i}.run(a.tensors.weights[id], a.tensors.state[id], a.tensors, group);
    });
  });
}
arm make_lock_warp(step_work& w) {
  auto const locks = std::make_shared<warden::buffer<std::uint32_t>>(w.rows().n_records);
  locks->fill_bytes(0);
  return {[=, r = w.rows(), t = w.tensors()] {
    launch_resident(&step_under_locks, arm_threads(256), 0, {r, t, locks->data()});
  }};
}

/// Gradients sorted by row, and the rows.
struct segment_arguments {
  std::uint32_t const *ids, *order;
  std::uint32_t n;
  parameter tensors;
};
/// A warp makes the steps of a row one after another. Loads, sums of squares and divisions of
/// several steps are in progress at the same time. With 5 blocks of a multiprocessor, 1.1 times as
/// many steps per second as with the 4 that unbounded registers allow.
WARDEN_KERNEL void WARDEN_BOUNDS(256, 5) step_segments(segment_arguments const a) {
  simt::assume_one_dimension();
  warden::lane_group<32> const group;
  std::uint32_t p = (simt::block_rank() * simt::block_threads() + simt::thread_rank()) / 32;
  if (p >= a.n) return;
  std::uint32_t const id = a.ids[p];
  if (p != 0 && a.ids[p - 1] == id) return;
  auto const gradient = [&](std::uint32_t at) {
    return columns::load(a.tensors.gradients + std::uint64_t{a.order[at]} * width, group.lane());
  };
  float* const row = a.tensors.weights[id].w;
  columns w = columns::load(row, group.lane());
  float state = a.tensors.state[id];
  for_each_of_segment(a.ids, a.n, p, gradient, [&](auto const& g, unsigned count) {
    float squares[items_at_once];
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k) {
      if (k < count) squares[k] = mean_square(g[k], group);
    }
    WARDEN_UNROLL
    for (unsigned k = 0; k < items_at_once; ++k) {
      if (k < count) move(w, g[k], state += squares[k]);
    }
  });
  w.store(row, group.lane());
  if (group.lane() == 0) a.tensors.state[id] = state;
}
arm make_sort_steps(step_work& w) {
  auto const order = std::make_shared<row_order>(w.rows().n, w.rows().n_records);
  return {[=, r = w.rows(), t = w.tensors()] {
    order->sort_async(r.ids);
    unsigned const warps = arm_threads(sum_threads) / 32;
    simt::launch(&step_segments, (r.n + warps - 1) / warps, warps * 32, 0,
                 {order->ids(), order->order(), r.n, t}, {});
  }};
}

template <class Step>
struct step_log {
  explicit step_log(step_work& w)
      : on{w.tensors().weights, w.rows().n_records, w.tensors()}, log{on, w.rows().n} {}
  table<Step> on;
  warden::deferred<step_policy, embedding, Step> log;
};
template <class Step>
void send_steps(step_log<Step>& by, float_rows<width> const& r) {
  warden::send_async(by.log, r.n, [=] __device__(std::uint64_t i) {
    return warden::to{r.ids[i], Step{static_cast<std::uint32_t>(i)}};
  });
  by.log.run();
}
template <class Step>
arm make_warden(step_work& w) {
  auto const by = std::make_shared<step_log<Step>>(w);
  return {[=, r = w.rows()] { send_steps(*by, r); }, [=] { by->on.wait(); }};
}
template <class Step>
void apply_steps(table<Step>& on, float_rows<width> const& r) {
  on.apply_async(r.ids, r.n,
                 [=] __device__(std::uint64_t i) { return Step{static_cast<std::uint32_t>(i)}; });
}
template <class Step>
arm make_warden_bulk(step_work& w) {
  auto const on =
      std::make_shared<table<Step>>(w.tensors().weights, w.rows().n_records, w.tensors());
  return {[=, r = w.rows()] { apply_steps(*on, r); }, [=] { on->wait(); }};
}

}  // namespace

std::shared_ptr<bench::point> make_adagrad_steps_point(size const& s) {
  return make_point<step_work>({"adagrad_steps",
                                s.workload,
                                s.keys,
                                s.rows,
                                {{"lock_warp", make_lock_warp},
                                 {"sort_segments", make_sort_steps},
                                 {"warden", make_warden<step>},
                                 {"warden_bulk", make_warden_bulk<step>},
                                 {"warden_rows", make_warden<row_step>},
                                 {"warden_rows_bulk", make_warden_bulk<row_step>}},
                                [s] { return std::make_unique<step_work>(s); }});
}

}  // namespace workloads
