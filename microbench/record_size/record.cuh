// SPDX-License-Identifier: Apache-2.0
// Records of several sizes, and a section that changes every word of one.
#pragma once

#include "microbench/support/device.cuh"

#include <cstdint>

namespace record_size {

/// A record. `Bytes` is a multiple of 4.
template <unsigned Bytes>
struct alignas(Bytes < 16 ? Bytes : 16) record {
  static constexpr unsigned words = Bytes / sizeof(std::uint32_t);
  std::uint32_t word[words];
};

/// Section that one thread runs.
struct add_to_all {
  static constexpr bool reads_other_memory = false;
  std::uint32_t amount;
  template <unsigned Bytes>
  __device__ void operator()(record<Bytes>& r) const {
    for (unsigned w = 0; w < r.words; ++w) r.word[w] += amount + w;
  }
};

/// Makes the section of operation i. Amounts are distinct, so that two lost sections and a doubled
/// one do not cancel.
struct make_add {
  __device__ add_to_all operator()(std::uint32_t i) const {
    return {static_cast<std::uint32_t>(bench::mix(i, 7) >> 32)};
  }
};

}  // namespace record_size
