// SPDX-License-Identifier: Apache-2.0
// Point of the handover benchmark: the gaps of all records, by one clock.
#pragma once

#include "microbench/contention/points.cuh"
#include "microbench/handover/gap_log.cuh"
#include "microbench/handover/operation.cuh"
#include "microbench/handover/points.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

namespace handover {

template <class Clock>
class point_of final : public contention::point_of<stamp<Clock>> {
  using base = contention::point_of<stamp<Clock>>;

 public:
  explicit point_of(bench::workload w) : base{std::move(w), 0} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    if (std::find(single_arms.begin(), single_arms.end(), arm) == single_arms.end()) return false;
    return arm.starts_with("warden_") ? base::has(arm) : Clock::is_shared;
  }

 private:
  /// At most the length of a sequence. In a second pass, gaps would include the wait of a record
  /// for that pass.
  [[nodiscard]] std::uint32_t most() const override {
    std::uint32_t const length = this->workload_.length();
    return length == 0 ? base::most() : std::max(base::least, std::bit_floor(length));
  }
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    auto result = base::run(arm, operations, seed);
    // A record of a sequence may wait for a whole repetition, and a gap holds only 31 bits.
    if (this->workload_.length() != 0 && result.cost.seconds > most_seconds)
      result.verified = false;
    log_.add(arm, this->runner_->records().to_host());
    return result;
  }
  void finish(std::string const& arm, bench::row& r) override { log_.finish(arm, r); }
  void tear_down() override {
    base::tear_down();
    log_.clear();
  }

  static constexpr double most_seconds = 0x1p31 * 1e-9;
  gap_log<Clock, record> log_;
};

}  // namespace handover
