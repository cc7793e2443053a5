// SPDX-License-Identifier: Apache-2.0
// CUDA's atomics: cuda_runtime.h has all.
#pragma once

#include "cuda_runtime.h"
