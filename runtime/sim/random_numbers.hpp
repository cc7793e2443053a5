// SPDX-License-Identifier: Apache-2.0
// The random numbers of a seed.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <cstdint>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// SplitMix64: good enough for schedules, in three lines.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Below `bound`, which is not zero.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace sim
WARDEN_HOST_NAMESPACE_END
