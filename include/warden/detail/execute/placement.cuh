// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that holds the records while servers work on them.
#pragma once

#include <warden/simt/annotations.cuh>

WARDEN_NAMESPACE_BEGIN

/// Memory that holds the records while sections run.
enum class placement : unsigned char {
  in_memory,  ///< global memory
  on_chip,    ///< the shared memory of the block that runs them; written back at the end
  /// Deferred: each run of a log chooses by its number of sections. Otherwise in memory.
  automatic,
};

WARDEN_NAMESPACE_END
