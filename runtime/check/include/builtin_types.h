// SPDX-License-Identifier: Apache-2.0
// Types of the CUDA runtime API: cuda_runtime.h has all.
#pragma once

#include "cuda_runtime.h"
