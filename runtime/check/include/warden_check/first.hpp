// SPDX-License-Identifier: Apache-2.0
// Included first in each program, as nvcc includes cuda_runtime.h; by this name, because a file
// cuda_runtime.h in the compiler's working folder would come first.
#pragma once

#include <cuda_runtime.h>
