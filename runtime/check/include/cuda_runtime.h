// SPDX-License-Identifier: Apache-2.0
// CUDA's names and runtime API on the simulated device; what nvcc includes first in each file.
#pragma once

#include "cuda_runtime_api.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmath>
#include <utility>

#define __constant__
#define __managed__
#define __cudart_builtin__
#define __builtin_assume(condition) static_cast<void>(0)
// nvcc's is no keyword, so it may stand next to `inline`.
#undef __forceinline__
#define __forceinline__

// Macros that nvcc defines. Device code is checked: code for both sides is compiled as device code.
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define CUDART_VERSION 12040
#define __CUDA_ARCH__ 900
