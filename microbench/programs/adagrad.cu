// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad: each gradient is a step of its own on its row of weights.

#include "microbench/programs/program.cuh"

#include <cmath>

namespace {

constexpr unsigned width = 64;
constexpr float rate = 0.05f, epsilon = 1e-8f;

// ---- the work

struct embedding {
  float2 w[width / 2];
};
struct tensors {
  float2 const* gradients;
  float* state;
};
struct step {
  static constexpr unsigned group_size = width / 2;
  std::uint32_t gradient;
  __device__ void operator()(embedding& e, tensors t, warden::record_id id,
                             warden::lane_group<group_size> const& group) const {
    float const before = t.state[id];
    float2 const g = t.gradients[std::uint64_t{gradient} * group_size + group.lane()];
    float2& w = e.w[group.lane()];
    float const squares =
        group.reduce(g.x * g.x + g.y * g.y, [](float a, float b) { return a + b; });
    float const state = before + squares / width, divisor = sqrtf(state) + epsilon;
    if (group.lane() == 0) t.state[id] = state;
    w = make_float2(w.x - rate * g.x / divisor, w.y - rate * g.y / divisor);
  }
};
using policy = warden::policy<warden::options{}, warden::context<tensors>>;
using table = warden::basic_guarded<policy, embedding, step>;
void make_steps(table& rows, std::uint32_t const* ids, std::uint64_t n) {
  rows.apply_async(ids, n,
                   [] __device__(std::uint64_t i) { return step{static_cast<std::uint32_t>(i)}; });
}

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
      float2 const pair = found[id].w[k / 2];
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
    table rows{weights, tensors{reinterpret_cast<float2 const*>(gradients.data()), state.data()}};
    report.measure(
        std::to_string(n) + " rows " + distribution, n,
        [&] { weights.fill_bytes(0), state.fill_bytes(0); },
        [&] { make_steps(rows, ids.data(), n); }, [&] { rows.wait(); },
        [&] { return is_right(ids.to_host(), weights.to_host(), state.to_host()); });
  }
  return report.exit_code();
}
