// SPDX-License-Identifier: Apache-2.0
// Warden arms.
#pragma once

#include "microbench/contention/warden_arms.cuh"
#include "microbench/record_size/arm.hpp"

#include <cstdint>
#include <memory>

namespace record_size {

/// The operation, with the members that the Warden arms of `contention` need.
template <unsigned Bytes>
struct operation {
  using record = record_size::record<Bytes>;
  using section = add_to_all;
  using make = make_add;
  using context = warden::no_context;
};

template <unsigned Bytes, class Executor>
class warden_arm final : public arm {
 public:
  warden_arm(record<Bytes>* records, std::uint32_t keys) : by_warden_{records, keys, {}} {}
  void run_async(std::uint32_t const* ids, std::uint32_t n) override {
    by_warden_.run_async(ids, n);
  }
  void wait() override { by_warden_.wait(); }

 private:
  contention::warden_arm_of<operation<Bytes>, contention::executor_policy<Executor>,
                            warden::placement::in_memory>
      by_warden_;
};

}  // namespace record_size
