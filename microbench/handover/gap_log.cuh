// SPDX-License-Identifier: Apache-2.0
// The gaps of all repetitions, and their figures in a row.
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

/// The gaps of one or more runs.
struct gaps {
  std::int64_t sum = 0;
  std::uint64_t count = 0;
  std::int32_t minimum = std::numeric_limits<std::int32_t>::max();
  std::int32_t maximum = std::numeric_limits<std::int32_t>::min();  ///< if records have it

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

/// The gaps of every run of every arm, by one clock.
template <class Clock, class Record>
class gap_log {
 public:
  /// An arm's run has left these records.
  void add(std::string const& arm, std::vector<Record> const& records) {
    gaps& all = runs_[arm].emplace_back();
    for (Record const& r : records) all.add(r);
  }
  /// Notes the gaps of the measured runs.
  void finish(std::string const& arm, bench::row& r) const {
    // Steps of the simulated device are no times.
    if (warden::runtime::facts(warden::runtime::current_device()).simulated) return;
    // The runs before the measured ones only chose the number of operations.
    auto const& runs = runs_.at(arm);
    gaps all;
    for (auto i = runs.size() - static_cast<std::size_t>(r.counters.at("runs")); i < runs.size();
         ++i)
      all.add(runs[i]);
    r.counters["tick"] = bench::tick_of<Clock>();
    r.counters["gaps"] = static_cast<double>(all.count);
    if (all.count == 0) return;
    r.counters["mean_gap"] = static_cast<double>(all.sum) / static_cast<double>(all.count);
    r.counters["minimum_gap"] = all.minimum;
    if constexpr (requires(Record of_run) { of_run.maximum; })
      r.counters["maximum_gap"] = all.maximum;
  }
  void clear() { runs_.clear(); }

 private:
  std::map<std::string, std::vector<gaps>> runs_;  ///< by arm, in order
};

}  // namespace handover
