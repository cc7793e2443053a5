// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that holds the records while servers work on them.
#pragma once

#include <warden/simt/annotations.cuh>

WARDEN_NAMESPACE_BEGIN

/// Memory that holds the records during a launch.
enum class placement : unsigned char {
  in_memory,  ///< in global memory; concurrent reads are not synchronized
  on_chip,    ///< in their owner's shared memory; written back when the launch ends
};

WARDEN_NAMESPACE_END
