// SPDX-License-Identifier: Apache-2.0
// A point of the handover benchmark: the gaps of all records, by one clock.
#pragma once

#include "microbench/contention/points.cuh"
#include "microbench/handover/gap_log.cuh"
#include "microbench/handover/operation.cuh"
#include "microbench/handover/points.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace handover {

template <class Clock>
class point_of final : public contention::point_of<stamp<Clock>> {
  using base = contention::point_of<stamp<Clock>>;

 public:
  using base::base;

  [[nodiscard]] bool has(std::string const& arm) const override {
    if (std::find(single_arms.begin(), single_arms.end(), arm) == single_arms.end()) return false;
    return arm.starts_with("warden_") ? base::has(arm) : Clock::is_shared;
  }

 private:
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    auto const result = base::run(arm, operations, seed);
    log_.add(arm, this->runner_->records().to_host());
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override { log_.finish(arm, r); }
  void tear_down() override {
    base::tear_down();
    log_.clear();
  }

  gap_log<Clock, record> log_;
};

}  // namespace handover
