// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits: each operation is done in float and rounded to nearest.
#pragma once

#include "cuda_runtime.h"

namespace warden::check {
unsigned short half_bits(float value);
float half_value(unsigned short bits);
}  // namespace warden::check

struct __half {
  unsigned short bits;

  __half() = default;
  __half(float value) : bits{warden::check::half_bits(value)} {}
  operator float() const { return warden::check::half_value(bits); }
  __half& operator+=(__half other) { return *this = __half(float(*this) + float(other)); }
  __half& operator-=(__half other) { return *this = __half(float(*this) - float(other)); }
  __half& operator*=(__half other) { return *this = __half(float(*this) * float(other)); }
  __half& operator/=(__half other) { return *this = __half(float(*this) / float(other)); }
};
using half = __half;
inline __half operator+(__half a, __half b) { return a += b; }
inline __half operator-(__half a, __half b) { return a -= b; }
inline __half operator*(__half a, __half b) { return a *= b; }
inline __half operator/(__half a, __half b) { return a /= b; }
inline __half operator-(__half a) { return __half(-float(a)); }

inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return static_cast<float>(a); }
inline __half __int2half_rn(int a) { return static_cast<float>(a); }
inline float __half2float(__half a) { return a; }
inline int __half2int_rn(__half a) { return static_cast<int>(nearbyintf(a)); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __ushort_as_half(unsigned short bits) {
  __half a;
  a.bits = bits;
  return a;
}
inline __half __hadd(__half a, __half b) { return a + b; }
inline __half __hsub(__half a, __half b) { return a - b; }
inline __half __hmul(__half a, __half b) { return a * b; }
inline __half __hdiv(__half a, __half b) { return a / b; }
inline __half __hneg(__half a) { return -a; }
inline __half __hfma(__half a, __half b, __half c) { return fmaf(a, b, c); }
inline __half __hmax(__half a, __half b) { return fmaxf(a, b); }
inline __half __hmin(__half a, __half b) { return fminf(a, b); }
inline __half hsqrt(__half a) { return sqrtf(a); }
inline __half hexp(__half a) { return expf(a); }
inline bool __heq(__half a, __half b) { return float(a) == float(b); }
inline bool __hne(__half a, __half b) { return float(a) != float(b); }
inline bool __hlt(__half a, __half b) { return float(a) < float(b); }
inline bool __hle(__half a, __half b) { return float(a) <= float(b); }
inline bool __hgt(__half a, __half b) { return float(a) > float(b); }
inline bool __hge(__half a, __half b) { return float(a) >= float(b); }

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(__half low, __half high) : x{low}, y{high} {}
};
using half2 = __half2;
inline __half2 operator+(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
inline __half2 operator-(__half2 a, __half2 b) { return {a.x - b.x, a.y - b.y}; }
inline __half2 operator*(__half2 a, __half2 b) { return {a.x * b.x, a.y * b.y}; }
inline __half2 operator/(__half2 a, __half2 b) { return {a.x / b.x, a.y / b.y}; }
inline __half2 make_half2(__half low, __half high) { return {low, high}; }
inline __half2 __halves2half2(__half low, __half high) { return {low, high}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return make_float2(a.x, a.y); }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline float __low2float(__half2 a) { return a.x; }
inline float __high2float(__half2 a) { return a.y; }
inline __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
inline __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
inline __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

inline __half atomicAdd(__half* address, __half value,
                        warden::check::site where = warden::check::site::current()) {
  return warden::cuda_detail::atomic_bytes(address, where, [&](__half& old) {
    old += value;
    return true;
  });
}
