// SPDX-License-Identifier: Apache-2.0
// Point of one workload: its data, and arms that do the same work.
#pragma once

#include "microbench/support/device_time.hpp"
#include "microbench/support/timed_point.hpp"
#include "microbench/workloads/arms.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace workloads {

/// Names, sizes and arms of a point.
template <class Work>
struct description {
  std::string operation, workload;
  std::uint32_t keys, rows;
  arm_makers<Work> arms;
  /// Makes inputs and memory for results.
  std::function<std::unique_ptr<Work>()> make;
};

/// A `Work` has `reset()`, which clears the results, and `is_right()`, which checks them. If
/// results are floating-point numbers it also has `draw_rounded()`, which draws inputs whose sums
/// depend on the order of the additions, and `bits()`, a hash of the results. Before `draw_rounded`
/// the inputs have sums that are exact in any order, so that `is_right` finds each lost row.
template <class Work>
class work_point final : public bench::timed_point {
 public:
  explicit work_point(description<Work> d) : d_{std::move(d)} {}

  [[nodiscard]] bool has(std::string const& arm) const override { return d_.arms.contains(arm); }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return d_.operation + "/" + d_.workload + "/" + arm + "/keys:" + std::to_string(d_.keys) +
           "/sections:" + std::to_string(d_.rows);
  }

 private:
  struct made_arm {
    arm by;
    std::optional<std::uint64_t> bits;  ///< bits of the first repetition
  };
  static constexpr bool rounds = requires(Work & work) { work.draw_rounded(); };

  [[nodiscard]] std::uint32_t operations() const override { return d_.rows; }
  void set_up(std::uint32_t) override {
    work_ = d_.make();
    is_exact_ = true;
  }
  /// Makes the arm and warms it up, on exact inputs.
  void prepare(std::string const& name, std::uint32_t, bench::row& r) override {
    arms_[name].by = d_.arms.at(name)(*work_);
    r.verified = run_once(arms_[name].by).verified;
    if (arms_[name].by.bytes != 0) r.counters["bytes"] = arms_[name].by.bytes;
  }
  bench::run_result run(std::string const& name, std::uint32_t, std::uint64_t) override {
    made_arm& a = arms_.at(name);
    if constexpr (rounds) {
      if (is_exact_) work_->draw_rounded();
      is_exact_ = false;
      // One more repetition, because a sweep may have a single one.
      if (a.by.same_bits && !a.bits) {
        run_once(a.by.run_on_other_grid ? arm{a.by.run_on_other_grid, a.by.wait} : a.by);
        a.bits = work_->bits();
      }
    }
    bench::run_result result = run_once(a.by);
    if constexpr (rounds) {
      if (a.by.same_bits) result.verified = result.verified && work_->bits() == *a.bits;
    }
    return result;
  }
  bench::run_result run_once(arm const& by) {
    work_->reset();
    bench::run_result result;
    result.cost = bench::device_time(by.run_async);
    by.wait();
    result.verified = work_->is_right();
    return result;
  }
  void tear_down() override {
    arms_.clear();
    work_.reset();
  }

  description<Work> d_;
  std::unique_ptr<Work> work_;
  std::map<std::string, made_arm> arms_;
  bool is_exact_ = true;
};

template <class Work>
std::shared_ptr<bench::point> make_point(description<Work> d) {
  return std::make_shared<work_point<Work>>(std::move(d));
}

}  // namespace workloads
