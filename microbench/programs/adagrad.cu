// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad: each gradient is a step of its own on its row of weights.

#include "microbench/programs/program.cuh"

#include <warden/guarded_loop.cuh>
#include <warden/sections.cuh>

#include <cmath>

namespace {

constexpr unsigned width = 64;
constexpr float rate = 0.05f, epsilon = 1e-8f;

// ---- the work

using embedding = warden::elements<float2, width / 2>;
using lanes = warden::lane_group<width / 2>;
struct step {
  float2 const* gradients;
  float* states;
  __device__ void operator()(embedding& weights, std::uint32_t i, warden::record_id id,
                             lanes const& group) const {
    float const before = states[id];
    float2 const g = gradients[std::uint64_t{i} * lanes::lanes + group.lane()];
    float2& w = weights[group.lane()];
    float const squares =
        group.reduce(g.x * g.x + g.y * g.y, [](float a, float b) { return a + b; });
    float const state = before + squares / width, divisor = sqrtf(state) + epsilon;
    if (group.lane() == 0) states[id] = state;
    w = make_float2(w.x - rate * g.x / divisor, w.y - rate * g.y / divisor);
  }
};

// ---- data and check

/// The gradients of a row are equal, so the order of its steps does not matter.
struct draw_gradient {
  std::uint32_t const* ids;
  __device__ float operator()(std::uint64_t k) const {
    return bench::mix(std::uint64_t{ids[k / width]} * width + k % width, 4) % 2 == 0 ? 1.f : -1.f;
  }
};
bool is_right(std::vector<std::uint32_t> const& ids, std::vector<embedding> const& found,
              std::vector<float> const& state) {
  std::vector<std::uint32_t> steps(found.size());
  for (std::uint32_t const id : ids) ++steps[id];
  std::vector<float> moved{0};
  for (std::uint32_t k = 1; k <= *std::max_element(steps.begin(), steps.end()); ++k)
    moved.push_back(moved.back() - rate / (std::sqrt(static_cast<float>(k)) + epsilon));
  for (std::size_t id = 0; id < found.size(); ++id) {
    float const move = moved[steps[id]];
    if (state[id] != static_cast<float>(steps[id])) return false;
    for (unsigned k = 0; k < width; ++k) {
      float2 const pair = found[id][k / 2];
      float const expected = bench::mix(id * width + k, 4) % 2 == 0 ? move : -move;
      if ((k % 2 == 0 ? pair.x : pair.y) != expected) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t const n = programs::rows_of(argc, argv, 20);
  programs::report report{"adagrad"};
  for (char const* distribution : {"uniform", "zipf099"}) {
    auto const ids = programs::draw_ids(distribution, n, n);
    auto const gradients =
        programs::made<float>(std::uint64_t{n} * width, draw_gradient{ids.data()});
    warden::buffer<embedding> weights{n};
    warden::buffer<float> state{n};
    step const one_step{reinterpret_cast<float2 const*>(gradients.data()), state.data()};
    auto rows = warden::make_guarded_loop<lanes::lanes>(weights, one_step);
    report.measure(
        std::to_string(n) + " rows " + distribution, n,
        [&] { weights.fill_bytes(0), state.fill_bytes(0); }, [&] { rows.apply_async(ids); },
        [&] { rows.wait(); },
        [&] { return is_right(ids.to_host(), weights.to_host(), state.to_host()); });
  }
  return report.exit_code();
}
