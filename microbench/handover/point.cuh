// SPDX-License-Identifier: Apache-2.0
// A point of the handover benchmark: the gaps of all records, by one clock.
#pragma once

#include "microbench/contention/points.cuh"
#include "microbench/handover/operation.cuh"
#include "microbench/handover/points.hpp"

#include <algorithm>
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
  std::int32_t maximum = std::numeric_limits<std::int32_t>::min();

  void add(record const& r) {
    if (r.count < 2) return;
    sum += r.sum;
    count += r.count - 1;
    minimum = std::min(minimum, r.minimum);
    maximum = std::max(maximum, r.maximum);
  }
  void add(gaps const& other) {
    sum += other.sum;
    count += other.count;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
};

template <class Clock>
class point_of final : public contention::point_of<stamp<Clock>> {
  using base = contention::point_of<stamp<Clock>>;

 public:
  using base::base;

  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm.starts_with("warden_") ? base::has(arm) : Clock::is_shared;
  }

 private:
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    auto const result = base::run(arm, operations, seed);
    gaps& all = runs_[arm].emplace_back();
    for (record const& r : this->runner_->records().to_host()) all.add(r);
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override {
    // Steps of the simulated device are no times.
    if (warden::runtime::facts(warden::runtime::current_device()).simulated) return;
    // The runs before the measured ones only chose the number of operations.
    auto const& runs = runs_[arm];
    gaps all;
    for (auto i = runs.size() - static_cast<std::size_t>(r.counters.at("runs")); i < runs.size();
         ++i)
      all.add(runs[i]);
    r.counters["tick"] = bench::tick_of<Clock>();
    r.counters["gaps"] = static_cast<double>(all.count);
    if (all.count == 0) return;
    r.counters["mean_gap"] = static_cast<double>(all.sum) / static_cast<double>(all.count);
    r.counters["minimum_gap"] = all.minimum;
    r.counters["maximum_gap"] = all.maximum;
  }
  void tear_down() override {
    base::tear_down();
    runs_.clear();
  }

  std::map<std::string, std::vector<gaps>> runs_;  ///< by arm, in order
};

}  // namespace handover
