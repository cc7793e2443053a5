// SPDX-License-Identifier: Apache-2.0
// One way to make a histogram.
#pragma once

#include "microbench/allocation/algorithms.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace allocation {

/// An arm for the largest numbers of samples and bins that its maker was given.
class histogram_arm {
 public:
  virtual ~histogram_arm() = default;
  /// Prepares for n samples, outside of the measured time.
  virtual void prepare(std::uint32_t) {}
  /// Enqueues all, with the clearing of the counts.
  virtual void run_async(histogram_arguments const& a) = 0;
  /// Throws what went wrong.
  virtual void wait() {}
};

/// By atomics on bins in shared memory. The counts begin as zero. Throws cuda_error.
void shared_histogram_async(histogram_arguments const& a);

/// By sections that are deferred and combined; in a translation unit of its own, because its
/// kernels take long enough to compile.
std::unique_ptr<histogram_arm> make_deferred_histogram(std::uint32_t* counts, std::uint32_t bins);

}  // namespace allocation
