// SPDX-License-Identifier: Apache-2.0
// Record ids of the operations, drawn on the device for each repetition.
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

/// Cumulative probabilities of Zipf's law: P(rank r) is proportional to (r + 1)^-exponent, exactly.
inline std::vector<double> zipf_cumulative(std::uint32_t keys, double exponent) {
  std::vector<double> sums(keys);
  double sum = 0;
  for (std::uint32_t r = 0; r < keys; ++r) sums[r] = sum += std::pow(r + 1.0, -exponent);
  for (double& s : sums) s /= sum;
  return sums;
}

inline constexpr double hot90_share = 0.9;

/// Cumulative probabilities of hot90: P(rank 0) = 0.9; the other ranks are equally likely.
inline std::vector<double> hot90_cumulative(std::uint32_t keys) {
  std::vector<double> sums(keys);
  for (std::uint32_t r = 0; r + 1 < keys; ++r)
    sums[r] = hot90_share + (1 - hot90_share) * r / (keys - 1);
  sums.back() = 1;
  return sums;
}

/// True if operation i of the draw of hot90 by `seed` is for a cold key.
WARDEN_HOST_DEVICE bool hot90_is_cold(std::uint64_t i, std::uint64_t seed) {
  return mix_to_unit(i, seed) >= hot90_share;
}

inline std::vector<std::uint32_t> permutation(std::uint32_t keys, std::uint64_t seed) {
  std::vector<std::uint32_t> ids(keys);
  std::iota(ids.begin(), ids.end(), 0u);
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64{seed});
  return ids;
}

/// A distribution of ids, which fills device arrays.
class workload {
 public:
  static workload uniform(std::uint32_t keys) { return workload{"uniform", keys}; }
  static workload zipf(std::uint32_t keys) {
    return workload{"zipf099", keys, zipf_cumulative(keys, 0.99)};
  }
  /// Zipf's law with exponent 1.1.
  static workload steep_zipf(std::uint32_t keys) {
    return workload{"zipf110", keys, zipf_cumulative(keys, 1.1)};
  }
  /// One key gets 90 % of the operations, the other keys 10 %.
  static workload hot90(std::uint32_t keys = hot90_keys) {
    return workload{"hot90", keys, hot90_cumulative(keys)};
  }
  /// Ids of a list. Each draw shuffles the list by its seed, and repeats it until all operations
  /// have an id.
  static workload list(std::string name, std::vector<std::uint32_t> ids) {
    workload w{std::move(name), *std::max_element(ids.begin(), ids.end()) + 1};
    w.listed_ = std::move(ids);
    return w;
  }
  /// Ids of a list, in its order. Fewer operations than ids take every n-th id, from a start that
  /// depends on the seed. More operations repeat the list.
  static workload sequence(std::string name, std::vector<std::uint32_t> const& ids) {
    workload w{std::move(name), *std::max_element(ids.begin(), ids.end()) + 1};
    w.ranked_ = warden::buffer<std::uint32_t>{ids};
    w.length_ = static_cast<std::uint32_t>(ids.size());
    return w;
  }

  /// Returns the ids of `file` unless `file` is empty, otherwise the distribution "uniform",
  /// "zipf099", "zipf110" or "hot90". `keys` has no effect on hot90. Throws std::runtime_error.
  static workload named(std::string const& name, std::uint32_t keys, std::string const& file) {
    if (!file.empty()) return list(name, read_ids(file));
    if (name == "hot90") return hot90();
    if (name == "zipf110") return steep_zipf(keys);
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
  /// Draws ranks by their cumulative probabilities, and maps them to ids by a permutation.
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
