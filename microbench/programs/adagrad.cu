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

using embedding = warden::elements<float, width>;
using part = warden::row_part<float, width, 8>;
struct step {
  __device__ static float prepare(part const& gradient, warden::lane_group<8> const& group) {
    float squares = 0;
    for (float const g : gradient.elements) squares += g * g;
    return group.reduce(squares, [](float a, float b) { return a + b; }) / width;
  }
  __device__ void operator()(part& weights, float& state, part const& gradient, float mean) const {
    state += mean;
    float const factor = rate * rsqrtf(state + epsilon);
    for (unsigned k = 0; k < part::size; ++k) weights[k] -= factor * gradient[k];
  }
};

// ---- data and check

/// The gradients of a row are equal, so the order of its steps does not matter. States are exact,
/// so they show a lost step of a hot row.
struct draw_gradient {
  std::uint32_t const* ids;
  __device__ embedding operator()(std::uint64_t i) const {
    embedding drawn;
    for (unsigned k = 0; k < width; ++k)
      drawn[k] = bench::mix(std::uint64_t{ids[i]} * width + k, 4) % 2 == 0 ? 1.f : -1.f;
    return drawn;
  }
};
bool is_right(std::vector<std::uint32_t> const& ids, std::vector<embedding> const& found,
              std::vector<float> const& state) {
  std::vector<std::uint32_t> steps(found.size());
  for (std::uint32_t const id : ids) ++steps[id];
  std::vector<float> moved{0};
  std::uint32_t const most = *std::max_element(steps.begin(), steps.end());
  for (std::uint32_t k = 1; k <= most; ++k)
    moved.push_back(moved.back() - rate / std::sqrt(static_cast<float>(k) + epsilon));
  for (std::size_t id = 0; id < found.size(); ++id) {
    float const move = moved[steps[id]];
    if (state[id] != static_cast<float>(steps[id])) return false;
    for (unsigned k = 0; k < width; ++k) {
      float const expected = bench::mix(id * width + k, 4) % 2 == 0 ? move : -move;
      if (std::abs(found[id][k] - expected) > 1e-4f * std::abs(move)) return false;
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
    auto const gradients = programs::made<embedding>(n, draw_gradient{ids.data()});
    warden::buffer<embedding> weights{n};
    warden::buffer<float> state{n};
    auto rows = warden::make_row_loop<8>(weights, state, gradients, step{});
    report.measure(
        std::to_string(n) + " rows " + distribution, n,
        [&] { weights.fill_bytes(0), state.fill_bytes(0); }, [&] { rows.apply_async(ids); },
        [&] { rows.wait(); },
        [&] { return is_right(ids.to_host(), weights.to_host(), state.to_host()); });
  }
  return report.exit_code();
}
