// SPDX-License-Identifier: Apache-2.0
// A point whose inputs are drawn from a workload.
#pragma once

#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <cstdint>
#include <string>
#include <utility>

namespace bench {

/// `Operation` has a `name`; `has_atomic` is true if the arm `atomics` can run it.
template <class Operation>
class workload_point : public timed_point {
 public:
  explicit workload_point(class workload w) : workload_{std::move(w)} {}

  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm != "atomics" || Operation::has_atomic;
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return std::string{Operation::name} + "/" + workload_.name() + "/" + arm +
           "/keys:" + std::to_string(keys());
  }

 protected:
  [[nodiscard]] std::uint32_t keys() const { return workload_.keys(); }
  /// Chooses settings of lock_tuned by trials of up to `operations`. Returns the choice as text.
  virtual std::string tune(std::uint32_t operations) = 0;
  void prepare(std::string const& arm, std::uint32_t operations, row& r) override {
    if (arm == "lock_tuned") r.settings = tune(operations);
  }

  class workload workload_;
};

}  // namespace bench
