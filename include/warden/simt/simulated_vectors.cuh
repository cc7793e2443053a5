// SPDX-License-Identifier: Apache-2.0
// CUDA's vector types on the simulated device, with CUDA's alignments.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/simulated_indices.cuh>

WARDEN_NAMESPACE_BEGIN
namespace cuda_names {

#define WARDEN_VECTORS_BUT_3(name, type)                                         \
  struct name##1 {                                                               \
    type x;                                                                      \
  };                                                                             \
  struct alignas(2 * sizeof(type)) name##2 {                                     \
    type x, y;                                                                   \
  };                                                                             \
  struct alignas(sizeof(type) < 4 ? 4 * sizeof(type) : 16) name##4 {             \
    type x, y, z, w;                                                             \
  };                                                                             \
  constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
#define WARDEN_VECTORS(name, type) \
  struct name##3 {                 \
    type x, y, z;                  \
  };                               \
  WARDEN_VECTORS_BUT_3(name, type)

WARDEN_VECTORS(char, signed char)
WARDEN_VECTORS(uchar, unsigned char)
WARDEN_VECTORS(short, short)
WARDEN_VECTORS(ushort, unsigned short)
WARDEN_VECTORS(int, int)
WARDEN_VECTORS_BUT_3(uint, unsigned)  // uint3 is the indices' type
WARDEN_VECTORS(long, long)
WARDEN_VECTORS(ulong, unsigned long)
WARDEN_VECTORS(longlong, long long)
WARDEN_VECTORS(ulonglong, unsigned long long)
WARDEN_VECTORS(float, float)
WARDEN_VECTORS(double, double)
#undef WARDEN_VECTORS
#undef WARDEN_VECTORS_BUT_3

}  // namespace cuda_names
WARDEN_NAMESPACE_END
