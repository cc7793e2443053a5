// SPDX-License-Identifier: Apache-2.0
// The operations on one GPU without `spread`, by the policy with the highest rate there.
#pragma once

#include "microbench/contention/oracle.cuh"
#include "microbench/contention/warden_arms.cuh"
#include "microbench/several_gpus/seconds_of.hpp"
#include "microbench/support/workload.cuh"

#include <warden/buffer.hpp>
#include <warden/guarded.cuh>
#include <warden/stream.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace several_gpus {

/// Runs `n` operations; has the interface of `rank`.
template <class Operation>
class single_gpu {
  using record = typename Operation::record;

 public:
  single_gpu(std::string const& workload, std::uint32_t keys, std::uint32_t n)
      : n_{n},
        workload_{bench::workload::named(workload, keys, "")},
        ids_{n},
        per_operation_{n},
        records_{keys},
        arm_{contention::make_deferred_arm<Operation>(arm_name, records_.data(), keys, context())},
        oracle_{n, keys} {
    arm_->prepare(n);
  }

  /// Returns the seconds of a run on ids drawn by `seed`. These ids are those of a job of one rank.
  double run(std::uint64_t seed) {
    workload_.draw(ids_.data(), n_, seed);
    per_operation_.fill_bytes(0);
    records_.fill_bytes(0);
    warden::stream_ref{}.synchronize();
    double const seconds = seconds_of([&] { arm_->run_async(ids_.data(), n_); });
    arm_->wait();
    return seconds;
  }
  /// Phases are not recorded.
  [[nodiscard]] static std::map<std::string, double> phases() { return {}; }
  /// Returns true if the last run was right.
  bool verify() { return oracle_.verify(records_.data(), ids_.data(), n_, context()); }

 private:
  /// Deferred arm with the highest rate in results/h200/contention.json.
  static constexpr char const* arm_name = warden::combining<typename Operation::section>
                                              ? "warden_deferred_combined"
                                              : "warden_deferred_on_chip";
  typename Operation::context context() { return Operation::make_context(per_operation_.data()); }

  std::uint32_t n_;
  bench::workload workload_;
  warden::buffer<std::uint32_t> ids_, per_operation_;
  warden::buffer<record> records_;
  std::unique_ptr<contention::warden_arm> arm_;
  contention::oracle<Operation> oracle_;
};

}  // namespace several_gpus
