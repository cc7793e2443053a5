// SPDX-License-Identifier: Apache-2.0
// Point of the contention benchmark: one operation on one workload.
#pragma once

#include "microbench/contention/arms.cuh"
#include "microbench/contention/observed.cuh"
#include "microbench/contention/points.hpp"
#include "microbench/support/workload_point.cuh"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace contention {

template <class Operation>
class point_of : public bench::workload_point<Operation> {
  using base = bench::workload_point<Operation>;

 public:
  /// Each repetition runs `sections` operations; 0 lets trial repetitions choose the number.
  point_of(bench::workload w, std::uint32_t sections) : base{std::move(w)}, sections_{sections} {}

  [[nodiscard]] std::string name(std::string const& arm) const override {
    return base::name(arm) + (sections_ == 0 ? "" : "/sections:" + std::to_string(sections_));
  }
  [[nodiscard]] bool has(std::string const& arm) const override {
    // The simulated device sorts on the host, so its counts would be 0, as if sorting were free.
    if (arm == "sort") return !warden::runtime::facts(warden::runtime::current_device()).simulated;
    if (arm.starts_with("warden")) return has_warden_arm<Operation>(arm, keys());
    if (arm == "atomics_combined") return warden::combining<typename Operation::section>;
    return base::has(arm);
  }

 protected:
  using base::keys;
  using base::workload_;

  [[nodiscard]] std::uint32_t operations() const override { return sections_; }
  void set_up(std::uint32_t operations) override { runner_.emplace(operations, keys()); }
  std::string tune(std::uint32_t operations) override {
    return runner_->tune(workload_, operations);
  }
  bench::run_result run(std::string const& arm, std::uint32_t operations,
                        std::uint64_t seed) override {
    return runner_->run(arm, workload_, operations, seed);
  }
  void finish(std::string const& arm, bench::row& r) override {
    // The simulated device does not count accesses to logs, which are nearly all accesses of these
    // arms.
    if (arm == "warden" || arm == "warden_bulk" || arm.starts_with("warden_deferred"))
      r.counters.erase("sectors");
  }
  void tear_down() override { runner_.reset(); }

  std::optional<runner<Operation>> runner_;

 private:
  std::uint32_t sections_;
};

/// A point that also measures the rate of the cold keys, if the workload has a hot key.
template <class Operation>
class observed_point_of final : public point_of<Operation> {
  using base = point_of<Operation>;

 public:
  using base::base;

 private:
  using base::keys;
  using base::runner_;
  using base::workload_;

  void set_up(std::uint32_t operations) override {
    base::set_up(operations);
    // The simulated device has no times.
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    if (workload_.name() == "hot90" && !simulated) observer_.emplace(operations, keys());
  }
  void finish(std::string const& arm, bench::row& r) override {
    base::finish(arm, r);
    if (!observer_) return;
    auto const seen =
        observer_->run(arm, workload_, static_cast<std::uint32_t>(r.operations), runner_->choice());
    r.verified = r.verified && seen.verified && seen.seconds > 0;
    if (r.verified)
      r.counters["cold_items_per_second"] = static_cast<double>(seen.cold) / seen.seconds;
  }
  void tear_down() override {
    base::tear_down();
    observer_.reset();
  }

  std::optional<cold_observer<Operation>> observer_;
};

template <class Operation>
std::shared_ptr<bench::point> make_point_of(bench::workload w, std::uint32_t sections) {
  return std::make_shared<observed_point_of<Operation>>(std::move(w), sections);
}

// Each function is in a translation unit of its own, because the kernels of one operation take long
// to compile.
std::shared_ptr<bench::point> make_push_point(bench::workload w, std::uint32_t sections);
std::shared_ptr<bench::point> make_add_point(bench::workload w, std::uint32_t sections);
std::shared_ptr<bench::point> make_update_point(bench::workload w, std::uint32_t sections);
std::shared_ptr<bench::point> make_update_mask_point(bench::workload w, std::uint32_t sections);

}  // namespace contention
