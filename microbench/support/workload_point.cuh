// SPDX-License-Identifier: Apache-2.0
// A point whose inputs are drawn from a workload.
#pragma once

#include "microbench/support/point.hpp"
#include "microbench/support/workload.cuh"

#include <cstdint>
#include <string>
#include <utility>

namespace bench {

/// `Operation` has a `name`, and says by `has_atomic` whether the arm `atomics` can do it.
template <class Operation>
class workload_point : public point {
 public:
  explicit workload_point(class workload w) : workload_{std::move(w)} {}

  [[nodiscard]] std::string operation() const override { return Operation::name; }
  [[nodiscard]] std::string workload() const override { return workload_.name(); }
  [[nodiscard]] std::uint32_t keys() const override { return workload_.keys(); }
  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm != "atomics" || Operation::has_atomic;
  }

 protected:
  class workload workload_;
};

}  // namespace bench
