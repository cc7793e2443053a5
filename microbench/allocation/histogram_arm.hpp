// SPDX-License-Identifier: Apache-2.0
// Interface of the arms that make histograms.
#pragma once

#include "microbench/allocation/algorithms.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace allocation {

/// An arm. The function that makes it gets the largest numbers of samples and bins.
class histogram_arm {
 public:
  virtual ~histogram_arm() = default;
  /// Prepares for n samples, outside of the measured time.
  virtual void prepare(std::uint32_t) {}
  /// Enqueues all work, including the clearing of the counts.
  virtual void run_async(histogram_arguments const& a) = 0;
  /// Waits until the work is done. Throws its error, if any.
  virtual void wait() {}
};

/// Enqueues a histogram by atomics on bins in shared memory. Precondition: the counts are 0. Throws
/// cuda_error.
void shared_histogram_async(histogram_arguments const& a);

/// Makes the arm that defers and combines sections. In a translation unit of its own, because its
/// kernels take long to compile.
std::unique_ptr<histogram_arm> make_deferred_histogram(std::uint32_t* counts, std::uint32_t bins);

}  // namespace allocation
