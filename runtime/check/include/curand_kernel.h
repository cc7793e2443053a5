// SPDX-License-Identifier: Apache-2.0
// Random numbers of device code: SplitMix64, so not the numbers of CUDA's generators.
#pragma once

#include "cuda_runtime.h"

struct curandState {
  unsigned long long next;
};
using curandState_t = curandState;
using curandStateXORWOW = curandState;
using curandStateXORWOW_t = curandState;
using curandStatePhilox4_32_10 = curandState;
using curandStatePhilox4_32_10_t = curandState;
using curandStateMRG32k3a = curandState;
using curandStateMRG32k3a_t = curandState;

inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandState* state) {
  state->next = seed * 0xd1342543de82ef95ull + sequence * 0xbf58476d1ce4e5b9ull +
                offset * 0x9e3779b97f4a7c15ull;
}
inline unsigned curand(curandState* state) {
  unsigned long long z = state->next += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<unsigned>((z ^ (z >> 31)) >> 32);
}
inline uint4 curand4(curandState* state) {
  unsigned const x = curand(state), y = curand(state), z = curand(state);
  return make_uint4(x, y, z, curand(state));
}
/// In (0, 1], as CUDA has it.
inline float curand_uniform(curandState* state) {
  return static_cast<float>((curand(state) >> 8) + 1) * 0x1p-24f;
}
inline double curand_uniform_double(curandState* state) {
  return (static_cast<double>(curand(state)) + 1) * 0x1p-32;
}
inline float2 curand_normal2(curandState* state) {
  float const radius = sqrtf(-2.0f * logf(curand_uniform(state)));
  float const angle = 6.283185307f * curand_uniform(state);
  return make_float2(radius * cosf(angle), radius * sinf(angle));
}
inline float curand_normal(curandState* state) { return curand_normal2(state).x; }
inline double curand_normal_double(curandState* state) { return curand_normal2(state).x; }
