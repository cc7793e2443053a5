// SPDX-License-Identifier: Apache-2.0
// Service that hands out places by calls: a counter is a record, and callers get the places as
// answers.
#pragma once

#include "microbench/support/block_caller.cuh"

#include <warden/buffer.hpp>
#include <warden/fused.cuh>

#include <cstdint>

namespace allocation {

struct take_places {
  static constexpr bool reads_other_memory = false;
  std::uint32_t count;
  __device__ std::uint64_t operator()(std::uint64_t& next, warden::no_context) const {
    std::uint64_t const first = next;
    next += count;
    return first;
  }
};
using called_policy =
    warden::policy<warden::options{.tuning = {.minimum_blocks_per_multiprocessor = 2}},
                   warden::executor::sorted<>>;

/// Counters in device memory whose places servers hand out.
class called_counters {
 public:
  using guarded_type = warden::basic_guarded<called_policy, std::uint64_t, take_places>;

  explicit called_counters(warden::buffer<std::uint64_t> const& counters) : guarded_{counters} {
    warden::prepare_fused(guarded_);
  }
  /// Enqueues a fused launch of `calls`.
  template <class Calls>
  void run_async(Calls const& calls) {
    bool const simulated = warden::runtime::facts(guarded_.device()).simulated;
    warden::launch_fused(calls, simulated ? 8 : 2048, guarded_type::policy::block_threads, {},
                         guarded_);
  }
  void wait() { guarded_.wait(); }

 private:
  guarded_type guarded_;
};

}  // namespace allocation
