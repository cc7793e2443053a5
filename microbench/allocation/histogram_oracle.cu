// SPDX-License-Identifier: Apache-2.0
// Checks histograms on the device.

#include "microbench/allocation/histogram_oracle.hpp"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

namespace allocation {

namespace simt = warden::simt;

struct histogram_check {
  histogram_arguments made;
  std::uint64_t* expected;  ///< [bin]
  std::uint64_t* wrong;
};
WARDEN_KERNEL void expect_samples(histogram_check a) {
  bench::for_each_of(a.made.n, [&](std::uint64_t i) {
    simt::fetch_add(&a.expected[a.made.samples[i]], std::uint64_t{1});
  });
}
WARDEN_KERNEL void compare_counts(histogram_check a) {
  bench::for_each_of(a.made.bins, [&](std::uint64_t bin) {
    if (a.made.counts[bin] != a.expected[bin]) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

std::uint64_t histogram_oracle::wrong(histogram_arguments const& made) {
  expected_.fill_bytes(0);
  wrong_.fill_bytes(0);
  histogram_check const check{made, expected_.data(), wrong_.data()};
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(&expect_samples, blocks, threads, 0, check, {});
  simt::launch(&compare_counts, blocks, threads, 0, check, {});
  return wrong_.to_host()[0];
}

}  // namespace allocation
