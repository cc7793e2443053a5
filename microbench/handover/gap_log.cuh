// SPDX-License-Identifier: Apache-2.0
// Gaps of all repetitions, and the counters that a row gets from them.
#pragma once

#include "microbench/support/clock.cuh"
#include "microbench/support/point.hpp"

#include <warden/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace handover {

/// Gaps of one or more repetitions.
struct gaps {
  std::int64_t sum = 0;
  std::uint64_t count = 0;
  std::int32_t minimum = std::numeric_limits<std::int32_t>::max();
  std::int32_t maximum = std::numeric_limits<std::int32_t>::min();  ///< if records have one

  template <class Record>
  void add(Record const& r) {
    if (r.count < 2) return;
    sum += r.sum;
    count += r.count - 1;
    minimum = std::min(minimum, r.minimum);
    if constexpr (requires { r.maximum; }) maximum = std::max(maximum, r.maximum);
  }
  void add(gaps const& other) {
    sum += other.sum;
    count += other.count;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

/// Gaps of every repetition of every arm, by one clock.
template <class Clock, class Record>
class gap_log {
 public:
  /// Adds the records that one repetition of an arm left.
  void add(std::string const& arm, std::vector<Record> const& records) {
    gaps& all = repetitions_[arm].emplace_back();
    for (Record const& r : records) all.add(r);
  }
  /// Writes the gaps of the measured repetitions to the row.
  void finish(std::string const& arm, bench::row& r) const {
    // The simulated device counts steps, which are no times.
    if (warden::runtime::facts(warden::runtime::current_device()).simulated) return;
    // Earlier repetitions only chose the number of operations.
    auto const& repetitions = repetitions_.at(arm);
    gaps all;
    for (auto i = repetitions.size() - static_cast<std::size_t>(r.counters.at("runs"));
         i < repetitions.size(); ++i)
      all.add(repetitions[i]);
    r.counters["tick"] = bench::tick_of<Clock>();
    r.counters["gaps"] = static_cast<double>(all.count);
    if (all.count == 0) return;
    r.counters["mean_gap"] = static_cast<double>(all.sum) / static_cast<double>(all.count);
    r.counters["minimum_gap"] = all.minimum;
    if constexpr (requires(Record record) { record.maximum; })
      r.counters["maximum_gap"] = all.maximum;
  }
  void clear() { repetitions_.clear(); }

 private:
  std::map<std::string, std::vector<gaps>> repetitions_;  ///< [arm][repetition], in order
};

}  // namespace handover
