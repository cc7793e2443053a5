// SPDX-License-Identifier: Apache-2.0
// Draws transfers on the device.

#include "microbench/bank_transfer/workload.cuh"

#include "microbench/support/device.cuh"

#include <warden/simt/launch.cuh>

namespace bank_bench {

namespace simt = warden::simt;

namespace {

struct finish_arguments {
  std::uint32_t *from, *to, *amounts;
  std::uint32_t n, accounts, pairs;
  std::uint64_t seed;
  bool hot_side;
};

/// Returns a number below `limit` for each (index, seed), by hash.
WARDEN_HOST_DEVICE std::uint32_t below(std::uint32_t limit, std::uint64_t i, std::uint64_t seed) {
  return static_cast<std::uint32_t>((bench::mix(i, seed) >> 32) * limit >> 32);
}

/// Makes transfers from two arrays of drawn accounts.
WARDEN_KERNEL void finish_transfers(finish_arguments a) {
  constexpr std::uint32_t period = bank_transfer::operations_for_a_pair;
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.amounts[i] = 1 + below(1000, i, a.seed + 1);
    if (i % period == period - 1) {
      std::uint32_t const first = a.accounts + 2 * below(a.pairs, i, a.seed + 2);
      std::uint32_t const payer = below(2, i, a.seed + 3);
      a.from[i] = first + payer;
      a.to[i] = first + 1 - payer;
      if (i / period % 2 == 1) a.amounts[i] = 0;
    } else if (a.hot_side && bench::mix_to_unit(i, a.seed + 4) < bench::hot90_share) {
      (i % 2 == 0 ? a.from : a.to)[i] = 0;
    }
  });
}

}  // namespace

bank_transfer::transfers transfer_workload::draw(std::uint32_t n, std::uint64_t seed) {
  // Far from the seeds of other draws.
  std::uint64_t const own = seed * 1'000'003;
  ids_.draw(from_.data(), n, own);
  ids_.draw(to_.data(), n, own + 5);
  auto const [blocks, threads] = bench::shape_of_helpers();
  simt::launch(&finish_transfers, blocks, threads, 0,
               {from_.data(), to_.data(), amounts_.data(), n, accounts_,
                bank_transfer::pairs_for(accounts_), own, name_ == "hot_side"},
               {});
  return {from_.data(), to_.data(), amounts_.data(), n};
}

}  // namespace bank_bench
