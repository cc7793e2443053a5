// SPDX-License-Identifier: Apache-2.0
// CUDA's fast functions that the C library declares under the same names and does not define.

#include <math.h>

extern "C" {
float __expf(float value) noexcept { return expf(value); }
float __exp10f(float value) noexcept { return exp10f(value); }
float __logf(float value) noexcept { return logf(value); }
float __log2f(float value) noexcept { return log2f(value); }
float __log10f(float value) noexcept { return log10f(value); }
float __sinf(float value) noexcept { return sinf(value); }
float __cosf(float value) noexcept { return cosf(value); }
float __tanf(float value) noexcept { return tanf(value); }
float __powf(float base, float exponent) noexcept { return powf(base, exponent); }
void __sincosf(float value, float* sine, float* cosine) noexcept { sincosf(value, sine, cosine); }
}
