// SPDX-License-Identifier: Apache-2.0
/// @file
/// A search by owner on the GPUs of this process.
#pragma once

#include "apps/breadth_first/owner_searcher.cuh"

#include "apps/graph/csr.hpp"

namespace breadth_first {

/// Result of a search on several GPUs.
struct search_on_gpus {
  owner_answer answer;
  owner_facts facts;
  double seconds = 0;  ///< time of the slowest GPU; 0 on the simulated device
};

/// Searches from `source` on `gpus` GPUs. `out` and `in` as for `owner_searcher`. Throws
/// limit_error if there are fewer GPUs or the program was built without NCCL.
search_on_gpus find_on_gpus(int gpus, graph::csr const& out, graph::csr const& in,
                            graph::vertex source);

}  // namespace breadth_first
