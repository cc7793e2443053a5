// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad: rows of weights with one number of state each, and a step.
#pragma once

#include "microbench/workloads/sorted_rows.cuh"

#include <warden/section.cuh>

#include <cmath>

namespace workloads {

constexpr unsigned width = 64;
constexpr float rate = 0.05f, epsilon = 1e-8f;
using columns = lane_sums<width>;

struct alignas(16) embedding {
  float w[width];
};
/// A parameter as frameworks keep it: weights and state are two tensors.
struct parameter {
  float const* gradients;
  embedding* weights;
  float* state;
};

/// Moves a weight by its gradient. `state` is that of the row after the gradient. The factor of the
/// row is the same for all weights, so a lane divides once.
WARDEN_HOST_DEVICE float moved(float weight, float gradient, float state) {
  return weight - rate / (sqrtf(state) + epsilon) * gradient;
}
/// Returns the mean of the squares of a row's columns in all lanes.
WARDEN_DEVICE float mean_square(columns const& g, warden::lane_group<32> const& group) {
  float sum = 0;
  WARDEN_UNROLL
  for (unsigned c = 0; c < columns::columns; ++c) sum += g.v[c] * g.v[c];
  return group.reduce(sum, [](float a, float b) { return a + b; }) / width;
}
/// A lane's part of a gradient.
template <unsigned Lanes>
using gradient_part = warden::row_part<float, width, Lanes>;
/// Makes the step of a row by a gradient. Collective over the group.
template <unsigned Lanes>
WARDEN_DEVICE void make_step(embedding& e, float& state, gradient_part<Lanes> const& g,
                             warden::lane_group<Lanes> const& group) {
  warden::row<float, width> const weights{e.w};
  float const before = state;
  gradient_part<Lanes> w = weights.load(group);
  float squares = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < g.size; ++k) squares += g[k] * g[k];
  squares = group.reduce(squares, [](float a, float b) { return a + b; });
  float const after = before + squares / width;
  WARDEN_UNROLL
  for (unsigned k = 0; k < g.size; ++k) w[k] = moved(w[k], g[k], after);
  weights.store(group, w);
  if (group.lane() == 0) state = after;
}

/// Moves the lane's columns.
WARDEN_DEVICE void move(columns& w, columns const& g, float state) {
  WARDEN_UNROLL
  for (unsigned c = 0; c < columns::columns; ++c) w.v[c] = moved(w.v[c], g.v[c], state);
}

}  // namespace workloads
