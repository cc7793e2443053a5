// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad with one step for each row, by the sum of its gradients: by a sort of the
// gradients, and by Warden.

#include "microbench/workloads/adagrad.cuh"
#include "microbench/workloads/points.hpp"
#include "microbench/workloads/row_arms.cuh"
#include "microbench/workloads/warden_scatter.cuh"
#include "microbench/workloads/work_point.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

namespace workloads {
namespace {

struct sum_step_check {
  embedding const* weights;
  float const* state;
  double const *sums, *sizes;
  std::uint64_t n;
  double tolerance;
  std::uint32_t* wrong;
};
/// Compares with steps of double precision.
WARDEN_KERNEL void compare_step_sums(sum_step_check a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t r) {
    double const *const sums = a.sums + r * width, *const sizes = a.sizes + r * width;
    // Rounding of a step itself, and of the sums before it.
    constexpr double of_step = 1e-5;
    double squares = 0, error = 0;
    for (unsigned k = 0; k < width; ++k) {
      squares += sums[k] * sums[k] / width;
      error += 2 * std::abs(sums[k]) * a.tolerance * sizes[k] / width;
    }
    bool good = std::abs(a.state[r] - squares) <= error + of_step * squares;
    double const root = std::sqrt(squares);
    for (unsigned k = 0; k < width; ++k) {
      double const wanted = root == 0 ? 0 : -rate * sums[k] / root;
      double const limit = root == 0 ? 0
                                     : rate * (of_step + a.tolerance * sizes[k] / root +
                                               std::abs(sums[k]) / root * error / squares);
      good = good && std::abs(a.weights[r].w[k] - wanted) <= limit;
    }
    if (!good) simt::fetch_add(a.wrong, 1u);
  });
}

/// Gradients, weights and state.
class sum_work {
 public:
  explicit sum_work(size const& s) : rows_{s}, weights_{s.keys}, state_{s.keys} {}
  [[nodiscard]] float_rows<width> rows() const { return rows_.rows(); }
  [[nodiscard]] parameter tensors() const {
    return {rows().values, weights_.data(), state_.data()};
  }
  void reset() {
    weights_.fill_bytes(0);
    state_.fill_bytes(0);
  }
  void draw_rounded() { rows_.draw(true); }
  bool is_right() {
    return finds_none_wrong(&compare_step_sums,
                            {weights_.data(), state_.data(), rows_.sums(), rows_.sizes(),
                             weights_.size(), rows_.tolerance(), nullptr});
  }
  [[nodiscard]] std::uint64_t bits() const {
    return hash_of({weights_.data()->w, weights_.size() * width}) ^
           hash_of({state_.data(), state_.size()});
  }

 private:
  row_sums<width> rows_;
  warden::buffer<embedding> weights_;
  warden::buffer<float> state_;
};

/// Makes the step of a row by the sum of its gradients. Collective over a warp.
struct step_of_sum {
  parameter tensors;
  WARDEN_DEVICE columns start(std::uint32_t, unsigned) const { return columns{}; }
  WARDEN_DEVICE void finish(std::uint32_t id, unsigned lane, columns const& sum) const {
    warden::lane_group<32> const group;
    float const state = tensors.state[id] + mean_square(sum, group);
    float* const row = tensors.weights[id].w;
    columns w = columns::load(row, lane);
    move(w, sum, state);
    w.store(row, lane);
    group.sync();
    if (lane == 0) tensors.state[id] = state;
  }
};
template <class Sums>
arm make_sorted(sum_work& w) {
  auto const by = std::make_shared<Sums>(w.rows());
  return {[=, r = w.rows(), finish = step_of_sum{w.tensors()}] { by->add_async(r, finish); }, [] {},
          true};
}

struct all_steps {
  float const* sums;
  step_of_sum step;
  std::uint64_t n;
};
/// Makes the steps of all rows, by sums in memory. A row without gradients stays as it is.
WARDEN_KERNEL void step_rows(all_steps a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n * 32, [&](std::uint64_t k) {
    auto const id = static_cast<std::uint32_t>(k / 32);
    unsigned const lane = k % 32;
    a.step.finish(id, lane, columns::load(a.sums + std::uint64_t{id} * width, lane));
  });
}
/// Sums of gradients, added by Warden through a log.
struct gradient_sums {
  explicit gradient_sums(float_rows<width> const& r)
      : sums{r.n_records * std::size_t{width}}, by{sums.data(), r} {}
  warden::buffer<float> sums;
  logged_scatter<width> by;
};
arm make_warden(sum_work& w) {
  auto const all = std::make_shared<gradient_sums>(w.rows());
  return {[=, r = w.rows(), step = step_of_sum{w.tensors()}] {
            all->sums.fill_bytes(0);
            all->by.run_async(r);
            launch_helper(&step_rows, {all->sums.data(), step, r.n_records});
          },
          [=] { all->by.wait(); }, true};
}

/// Section of one or several gradients. It is applied to a row once, so it makes the step.
struct add_gradient {
  static constexpr unsigned group_size = 16;
  floats<4> v;
  __device__ static add_gradient combine(add_gradient const& a, add_gradient const& b) {
    return {floats<4>::sum(a.v, b.v)};
  }
  __device__ void operator()(embedding& e, parameter t, warden::record_id id,
                             warden::lane_group<16> const& group) const {
    float squares = 0;
    for (float g : v.v) squares += g * g;
    float const state =
        t.state[id] + group.reduce(squares, [](float a, float b) { return a + b; }) / width;
    float const factor = factor_of(state);
    for (unsigned k = 0; k < 4; ++k) e.w[group.lane() * 4 + k] -= factor * v.v[k];
    group.sync();  // each lane has read the state
    if (group.lane() == 0) t.state[id] = state;
  }
  struct make {
    float const* values;
    __device__ add_gradient operator()(std::uint64_t i, warden::lane_group<16> const& group) const {
      return {reinterpret_cast<floats<4> const*>(values)[i * 16 + group.lane()]};
    }
  };
};
/// Section of one or several gradients, which are rows in their place.
struct add_row_of_gradients {
  static constexpr unsigned group_size = 16;
  using part = gradient_part<16>;
  std::uint32_t source;
  __device__ warden::row<float const, width> payload(parameter const& t) const {
    return {t.gradients, source};
  }
  __device__ static part combine(part const& a, part const& b) { return added(a, b); }
  __device__ void operator()(embedding& e, part const& sum, parameter const& t,
                             warden::record_id id, warden::lane_group<16> const& group) const {
    make_step(e, t.state[id], sum, group);
  }
};
using in_trees =
    warden::policy<warden::options{}, warden::order::deterministic, warden::context<parameter>>;
/// `By` is logged_rows or bulk_rows.
template <template <class, class, class> class By>
arm make_warden_rows(sum_work& w) {
  auto const by = std::make_shared<By<parameter, embedding, add_row_of_gradients>>(
      w.tensors().weights, w.rows(), w.tensors());
  return {[=, r = w.rows()] { by->run_async(r); }, [=] { by->wait(); }, true};
}
arm make_warden_bulk(sum_work& w) {
  auto const table = std::make_shared<warden::basic_guarded<in_trees, embedding, add_gradient>>(
      w.tensors().weights, w.rows().n_records, w.tensors());
  return {[=, r = w.rows()] { table->apply_async(r.ids, r.n, add_gradient::make{r.values}); },
          [=] { table->wait(); }, true};
}

}  // namespace

std::shared_ptr<bench::point> make_adagrad_sums_point(size const& s) {
  return make_point<sum_work>({"adagrad_sums",
                               s.workload,
                               s.keys,
                               s.rows,
                               {{"sort_segments", make_sorted<segment_sums<width>>},
                                {"sort_pieces", make_sorted<piece_sums<width>>},
                                {"warden", make_warden},
                                {"warden_bulk", make_warden_bulk},
                                {"warden_rows", make_warden_rows<logged_rows>},
                                {"warden_rows_bulk", make_warden_rows<bulk_rows>}},
                               [s] { return std::make_unique<sum_work>(s); }});
}

}  // namespace workloads
