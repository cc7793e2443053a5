// SPDX-License-Identifier: Apache-2.0
// Section that counts a sample: a bin is a record.
#pragma once

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace allocation {

namespace simt = warden::simt;

struct count {
  using record = std::uint32_t;
  struct context {};
  /// Section that counts several samples of a bin.
  struct several {
    static constexpr bool reads_other_memory = false;
    std::uint32_t amount;
    __device__ void operator()(record& sum, context) const { sum += amount; }
    __device__ void atomic(record* sum, context) const { simt::fetch_add(sum, amount); }
    __device__ static several combine(several a, several b) { return {a.amount + b.amount}; }
  };
  /// Section that counts one sample, in a smaller message.
  struct section {
    using partial = several;
    static constexpr bool reads_other_memory = false;
    __device__ void operator()(record& sum, context) const { ++sum; }
    __device__ operator several() const { return {1}; }
  };
  struct make {
    __device__ section operator()(std::uint32_t) const { return {}; }
  };
  /// Makes sections for senders that combine.
  struct make_several {
    __device__ several operator()(std::uint32_t) const { return {1}; }
  };
};

}  // namespace allocation
