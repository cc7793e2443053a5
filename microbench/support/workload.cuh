// SPDX-License-Identifier: Apache-2.0
// Which records the operations hit: ids drawn on the device, anew for each repetition.
#pragma once

#include "microbench/support/device.cuh"
#include "microbench/support/record_ids.hpp"

#include <warden/buffer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// P(rank r) ~ (r + 1)^-exponent, exactly.
inline std::vector<double> zipf_cumulative(std::uint32_t keys, double exponent) {
  std::vector<double> sums(keys);
  double sum = 0;
  for (std::uint32_t r = 0; r < keys; ++r) sums[r] = sum += std::pow(r + 1.0, -exponent);
  for (double& s : sums) s /= sum;
  return sums;
}

inline constexpr double hot90_share = 0.9;

/// P(rank 0) = 0.9; the other ranks share the rest alike.
inline std::vector<double> hot90_cumulative(std::uint32_t keys) {
  std::vector<double> sums(keys);
  for (std::uint32_t r = 0; r + 1 < keys; ++r)
    sums[r] = hot90_share + (1 - hot90_share) * r / (keys - 1);
  sums.back() = 1;
  return sums;
}

/// True if operation i of hot90's draw by `seed` is for another key than the hot one.
WARDEN_HOST_DEVICE bool hot90_is_cold(std::uint64_t i, std::uint64_t seed) {
  return mix_to_unit(i, seed) >= hot90_share;
}

inline std::vector<std::uint32_t> permutation(std::uint32_t keys, std::uint64_t seed) {
  std::vector<std::uint32_t> ids(keys);
  std::iota(ids.begin(), ids.end(), 0u);
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64{seed});
  return ids;
}

/// Fills device arrays with ids.
class workload {
 public:
  static workload uniform(std::uint32_t keys) { return workload{"uniform", keys}; }
  static workload zipf(std::uint32_t keys) {
    return workload{"zipf099", keys, zipf_cumulative(keys, 0.99)};
  }
  /// One key takes nine of ten operations, the others the tenth.
  static workload hot90(std::uint32_t keys = hot90_keys) {
    return workload{"hot90", keys, hot90_cumulative(keys)};
  }
  /// The ids of a list, shuffled by each draw's seed and repeated to fill the operations.
  static workload list(std::string name, std::vector<std::uint32_t> ids) {
    workload w{std::move(name), *std::max_element(ids.begin(), ids.end()) + 1};
    w.listed_ = std::move(ids);
    return w;
  }
  /// The ids of a list in its order. Fewer operations take every n-th id, from a place on that the
  /// seed decides; more begin again.
  static workload sequence(std::string name, std::vector<std::uint32_t> const& ids) {
    workload w{std::move(name), *std::max_element(ids.begin(), ids.end()) + 1};
    w.ranked_ = warden::buffer<std::uint32_t>{ids};
    w.length_ = static_cast<std::uint32_t>(ids.size());
    return w;
  }

  /// The ids of `file` if there is one; otherwise "uniform", "zipf099", or "hot90", whose number of
  /// keys is always the same. Throws std::runtime_error.
  static workload named(std::string const& name, std::uint32_t keys, std::string const& file) {
    if (!file.empty()) return list(name, read_ids(file));
    if (name == "hot90") return hot90();
    return name == "uniform" ? uniform(keys) : zipf(keys);
  }

  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] std::uint32_t keys() const { return keys_; }
  /// Length of a sequence; 0 for another workload.
  [[nodiscard]] std::uint32_t length() const { return length_; }

  void draw(std::uint32_t* ids, std::uint32_t n, std::uint64_t seed);

 private:
  static constexpr std::uint32_t hot90_keys = 1u << 15;

  workload(std::string name, std::uint32_t keys) : name_{std::move(name)}, keys_{keys} {}
  /// Drawn by cumulative probabilities of the ranks, which are scattered over the ids.
  workload(std::string name, std::uint32_t keys, std::vector<double> const& cumulative)
      : name_{std::move(name)},
        keys_{keys},
        cumulative_{cumulative},
        ranked_{permutation(keys, 42)} {}

  std::string name_;
  std::uint32_t keys_;
  warden::buffer<double> cumulative_;
  warden::buffer<std::uint32_t> ranked_;
  std::vector<std::uint32_t> listed_;
  std::uint32_t length_ = 0;
};

}  // namespace bench
