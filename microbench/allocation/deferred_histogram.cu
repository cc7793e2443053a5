// SPDX-License-Identifier: Apache-2.0
// Arm that defers and combines a section for each sample.

#include "microbench/allocation/count.cuh"
#include "microbench/allocation/histogram_arm.hpp"
#include "microbench/contention/deferred_arms.cuh"

namespace allocation {
namespace {

class deferred_histogram final : public histogram_arm {
 public:
  deferred_histogram(std::uint32_t* counts, std::uint32_t bins) : by_{counts, bins, {}} {}
  void prepare(std::uint32_t n) override { by_.prepare(n); }
  void run_async(histogram_arguments const& a) override {
    warden::runtime::fill_async(a.counts, 0, a.bins * sizeof *a.counts, {});
    by_.run_async(a.samples, a.n);
  }
  void wait() override { by_.wait(); }

 private:
  contention::deferred_arm_of<count, contention::logged, warden::placement::on_chip,
                              bench::block_sender>
      by_;
};

}  // namespace

std::unique_ptr<histogram_arm> make_deferred_histogram(std::uint32_t* counts, std::uint32_t bins) {
  return std::make_unique<deferred_histogram>(counts, bins);
}

}  // namespace allocation
