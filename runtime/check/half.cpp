// SPDX-License-Identifier: Apache-2.0
// Conversions between float and the binary16 of IEEE 754.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace warden::check {

unsigned short half_bits(float value) {
  std::uint32_t const sign = std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000u;
  float const size = std::fabs(value);
  if (std::isnan(size)) return static_cast<unsigned short>(sign | 0x7fffu);
  // 65,504 is the largest number; values at least half a step above it become infinite.
  if (size >= 65520.0f) return static_cast<unsigned short>(sign | 0x7c00u);
  if (size == 0) return static_cast<unsigned short>(sign);
  // A step is 2^-24 below 2^-14, and 2^-10 of the power of two from there on.
  int exponent = 0;
  std::frexp(size, &exponent);
  int const step = std::max(exponent - 11, -24);
  auto const steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
  // Steps that fill 11 bits carry into the exponent by themselves.
  return static_cast<unsigned short>(sign |
                                     ((static_cast<std::uint32_t>(step + 24) << 10) + steps));
}

float half_value(unsigned short bits) {
  int const exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  float const size = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                     : exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  return (bits & 0x8000u) != 0 ? -size : size;
}

}  // namespace warden::check
