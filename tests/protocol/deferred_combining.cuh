// SPDX-License-Identifier: Apache-2.0
// Deferred sections that combine, and what their records must be afterwards.
#pragma once

#include "tests/support/support.cuh"

#include <warden/deferred.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <vector>

namespace combined {

namespace simt = warden::simt;

/// Adds up what reached it, and counts the sections that ran.
struct total {
  std::uint64_t sum;
  std::uint32_t operations;
  std::uint32_t runs;
};
struct add_up {
  std::uint32_t operations;
  std::uint32_t sum;
  WARDEN_HOST_DEVICE static add_up of(std::uint32_t i) {
    return {1, static_cast<std::uint32_t>(test::mix(i)) >> 16};
  }
  __device__ void operator()(total& t) const {
    t.sum += sum;
    t.operations += operations;
    ++t.runs;
  }
  __device__ static add_up combine(add_up a, add_up b) {
    return {a.operations + b.operations, a.sum + b.sum};
  }
};
struct policy : warden::default_policy {
  static constexpr bool combines = true;
  static constexpr bool deferred_only = true;
  static constexpr unsigned block_threads = 32;
};
using totals = warden::basic_guarded<policy, total, add_up>;

struct arguments {
  totals::deferred_ref ref;
  std::uint32_t n, keys;
  std::uint32_t hot;  ///< of 256 are for record 0

  /// Record of operation i.
  WARDEN_HOST_DEVICE std::uint32_t id_of(std::uint32_t i) const {
    return (test::mix(i * 2 + 1) & 255u) < hot ? 0 : test::id_of(i, keys);
  }
  /// Whether operation i is sent.
  WARDEN_HOST_DEVICE bool sends(std::uint32_t i) const { return i < n && i % 7 != 2; }
};
template <unsigned Threads>
WARDEN_KERNEL void send_in_blocks(arguments a) {
  using block = totals::deferred_block<Threads>;
  block client{a.ref, *reinterpret_cast<typename block::storage*>(simt::dynamic_shared())};
  std::uint32_t const step = simt::block_count() * Threads;
  for (std::uint32_t base = simt::block_rank() * Threads; base < a.n; base += step) {
    std::uint32_t const i = base + simt::thread_rank();
    client.send(a.id_of(i), add_up::of(i), a.sends(i));
  }
  client.flush();
}

/// Sends and runs; every operation has its effect once. Returns how many sections ran.
template <unsigned Threads>
std::uint64_t expect_each_once(std::uint32_t n, std::uint32_t keys, std::uint32_t hot,
                               unsigned blocks) {
  warden::buffer<total> records{keys};
  records.fill_bytes(0);
  totals on{records};
  warden::deferred later{on, n};
  arguments const a{later.ref(), n, keys, hot};
  simt::launch(&send_in_blocks<Threads>, blocks, Threads,
               sizeof(typename totals::deferred_block<Threads>::storage), a, {});
  later.run();
  on.wait();
  std::vector<total> expected(keys);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!a.sends(i)) continue;
    expected[a.id_of(i)].sum += add_up::of(i).sum;
    ++expected[a.id_of(i)].operations;
  }
  std::uint64_t runs = 0;
  auto const found = records.to_host();
  for (std::uint32_t k = 0; k < keys; ++k) {
    EXPECT_EQ(found[k].operations, expected[k].operations)
        << "lost or doubled section on record " << k;
    EXPECT_EQ(found[k].sum, expected[k].sum) << "lost or doubled section on record " << k;
    runs += found[k].runs;
    if (testing::Test::HasFailure()) break;
  }
  return runs;
}

}  // namespace combined
