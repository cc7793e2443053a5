// SPDX-License-Identifier: Apache-2.0
// CUDA's bit casts, integer arithmetic and fast arithmetic on the simulated device. Functions with
// a rounding mode round to nearest, and fast functions are exact.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/sim_device.hpp>

#include <math.h>  // in the global namespace, as CUDA has it
#include <stdint.h>
#include <bit>

WARDEN_NAMESPACE_BEGIN
namespace cuda_names {

// ---- bit casts

inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline int __double2hiint(double value) {
  return static_cast<int>(__double_as_longlong(value) >> 32);
}
inline int __double2loint(double value) { return static_cast<int>(__double_as_longlong(value)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 |
                               static_cast<unsigned>(low));
}

// ---- integers

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  __extension__ using wide = __int128;
  return static_cast<long long>(static_cast<wide>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline unsigned __sad(int a, int b, unsigned sum) {
  return static_cast<unsigned>(a < b ? std::int64_t{b} - a : std::int64_t{a} - b) + sum;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) {
  return (a < b ? b - a : a - b) + sum;
}
inline int __hadd(int a, int b) { return static_cast<int>((std::int64_t{a} + b) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b) >> 1);
}
/// Returns four of the eight bytes of `high:low`, selected by the low 3 bits of each selector's
/// nibble. Bit 3 has no effect.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selectors) {
  std::uint64_t const bytes = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned const selector = selectors >> 4 * i & 7u;
    result |= (static_cast<unsigned>(bytes >> 8 * selector) & 0xffu) << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31u));
}
/// Returns the position of the n-th set bit from `base` on, upwards for a positive n and downwards
/// for a negative one; 0xffffffff if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return (mask >> base & 1u) != 0 ? base : 0xffffffffu;
  for (int at = static_cast<int>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
    if ((mask >> at & 1u) != 0 && (n += n > 0 ? -1 : 1) == 0) return static_cast<unsigned>(at);
  }
  return 0xffffffffu;
}
inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }

// ---- floating point

inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
inline double rsqrt(double value) { return 1.0 / sqrt(value); }
inline float rsqrt(float value) { return rsqrtf(value); }
inline float rcbrtf(float value) { return 1.0f / cbrtf(value); }
inline double rcbrt(double value) { return 1.0 / cbrt(value); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float value) {
  return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}
inline float __frsqrt_rn(float value) { return rsqrtf(value); }

#define WARDEN_ROUNDED(suffix)                                                        \
  inline float __fadd_##suffix(float a, float b) { return a + b; }                    \
  inline float __fsub_##suffix(float a, float b) { return a - b; }                    \
  inline float __fmul_##suffix(float a, float b) { return a * b; }                    \
  inline float __fdiv_##suffix(float a, float b) { return a / b; }                    \
  inline float __fmaf_##suffix(float a, float b, float c) { return fmaf(a, b, c); }   \
  inline float __frcp_##suffix(float a) { return 1.0f / a; }                          \
  inline float __fsqrt_##suffix(float a) { return sqrtf(a); }                         \
  inline double __dadd_##suffix(double a, double b) { return a + b; }                 \
  inline double __dsub_##suffix(double a, double b) { return a - b; }                 \
  inline double __dmul_##suffix(double a, double b) { return a * b; }                 \
  inline double __ddiv_##suffix(double a, double b) { return a / b; }                 \
  inline double __fma_##suffix(double a, double b, double c) { return fma(a, b, c); } \
  inline float __int2float_##suffix(int a) { return static_cast<float>(a); }          \
  inline float __uint2float_##suffix(unsigned a) { return static_cast<float>(a); }    \
  inline float __ll2float_##suffix(long long a) { return static_cast<float>(a); }     \
  inline double __ll2double_##suffix(long long a) { return static_cast<double>(a); }  \
  inline float __double2float_##suffix(double a) { return static_cast<float>(a); }
WARDEN_ROUNDED(rn)
WARDEN_ROUNDED(rz)
WARDEN_ROUNDED(ru)
WARDEN_ROUNDED(rd)
#undef WARDEN_ROUNDED

#define WARDEN_TO_INTEGER(suffix, round)                                                       \
  inline int __float2int_##suffix(float a) { return static_cast<int>(round(a)); }              \
  inline unsigned __float2uint_##suffix(float a) { return static_cast<unsigned>(round(a)); }   \
  inline long long __float2ll_##suffix(float a) { return static_cast<long long>(round(a)); }   \
  inline int __double2int_##suffix(double a) { return static_cast<int>(round(a)); }            \
  inline unsigned __double2uint_##suffix(double a) { return static_cast<unsigned>(round(a)); } \
  inline long long __double2ll_##suffix(double a) { return static_cast<long long>(round(a)); }
WARDEN_TO_INTEGER(rn, nearbyint)
WARDEN_TO_INTEGER(rz, trunc)
WARDEN_TO_INTEGER(ru, ceil)
WARDEN_TO_INTEGER(rd, floor)
#undef WARDEN_TO_INTEGER

}  // namespace cuda_names
WARDEN_NAMESPACE_END
