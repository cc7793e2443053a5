// SPDX-License-Identifier: Apache-2.0
// Row-wise AdaGrad: rows of weights with one number of state each, and a step.
#pragma once

#include "microbench/workloads/sorted_rows.cuh"

#include <warden/cuda_names.cuh>
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

/// Moves a weight by its gradient. `state` is that of the row after the gradient. On the host.
inline float moved(float weight, float gradient, float state) {
  return weight - rate / (std::sqrt(state) + epsilon) * gradient;
}
/// Returns rate / (sqrt(state) + epsilon), the factor of a row, rounded as root and quotient are.
/// `state` is finite. The compiler interleaves several steps, because this has none of the branches
/// by which sqrtf and a division treat numbers that are not normal.
WARDEN_DEVICE float factor_of(float state) {
  float const at_least = fmaxf(state, 1e-36f);  // the root of less does not change the sum
  float const inverse_root = rsqrtf(at_least);
  float const near_root = at_least * inverse_root;
  float const root = fmaf(fmaf(-near_root, near_root, at_least), 0.5f * inverse_root, near_root);
  float const divisor = root + epsilon;
  float const near_inverse = __fdividef(1.0f, divisor);
  float const inverse = fmaf(fmaf(-divisor, near_inverse, 1.0f), near_inverse, near_inverse);
  float const near_quotient = rate * inverse;
  return fmaf(fmaf(-divisor, near_quotient, rate), inverse, near_quotient);
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
/// Returns the mean of the squares of a gradient in all lanes. Collective over the group.
template <unsigned Lanes>
WARDEN_DEVICE float mean_square(gradient_part<Lanes> const& g,
                                warden::lane_group<Lanes> const& group) {
  float squares = 0;
  WARDEN_UNROLL
  for (unsigned k = 0; k < g.size; ++k) squares += g[k] * g[k];
  return group.reduce(squares, [](float a, float b) { return a + b; }) / width;
}
/// Moves the lane's weights.
template <unsigned Lanes>
WARDEN_DEVICE void move(gradient_part<Lanes>& w, gradient_part<Lanes> const& g, float state) {
  float const factor = factor_of(state);
  WARDEN_UNROLL
  for (unsigned k = 0; k < g.size; ++k) w[k] -= factor * g[k];
}
/// Makes the step of a row by a gradient. Collective over the group.
template <unsigned Lanes>
WARDEN_DEVICE void make_step(embedding& e, float& state, gradient_part<Lanes> const& g,
                             warden::lane_group<Lanes> const& group) {
  warden::row<float, width> const weights{e.w};
  float const before = state;
  gradient_part<Lanes> w = weights.load(group);
  float const after = before + mean_square(g, group);
  move(w, g, after);
  weights.store(group, w);
  if (group.lane() == 0) state = after;
}

/// Moves the lane's columns.
WARDEN_DEVICE void move(columns& w, columns const& g, float state) {
  float const factor = factor_of(state);
  WARDEN_UNROLL
  for (unsigned c = 0; c < columns::columns; ++c) w.v[c] -= factor * g.v[c];
}

}  // namespace workloads
