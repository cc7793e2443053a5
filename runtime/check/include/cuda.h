// SPDX-License-Identifier: Apache-2.0
// The version of CUDA's driver API, and no call of it: programs include it next to cuda_runtime.h.
#pragma once

#include "cuda_runtime.h"

#define CUDA_VERSION 12040
