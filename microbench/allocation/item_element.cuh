// SPDX-License-Identifier: Apache-2.0
// Elements that an item emits.
#pragma once

#include "microbench/allocation/emission_oracle.hpp"

#include <warden/simt/simt.cuh>

#include <cstdint>

namespace allocation {

namespace simt = warden::simt;

/// Element k of item i.
struct item_element {
  __device__ std::uint32_t operator()(std::uint64_t i, std::uint32_t k) const {
    return static_cast<std::uint32_t>(i) | k << item_bits;
  }
};

}  // namespace allocation
