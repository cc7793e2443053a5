// SPDX-License-Identifier: Apache-2.0
// CUDA's indices: cuda_runtime.h has all.
#pragma once

#include "cuda_runtime.h"
