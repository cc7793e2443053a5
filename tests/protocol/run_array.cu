// SPDX-License-Identifier: Apache-2.0
// Records that runs in different streams take one after another.

#include "tests/support/many_schedules.cuh"

#include <warden/buffer.hpp>
#include <warden/detail/execute/run_array.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>

namespace {

namespace simt = warden::simt;

constexpr std::uint32_t rounds = 8, blocks = 4;

/// Each block takes the records as often as a run does, and adds one to them without an atomic.
WARDEN_KERNEL void take_in_turn(warden::detail::run_array<std::uint32_t> a) {
  if (simt::thread_rank() != 0) return;
  for (std::uint32_t done = 0; done < rounds;) {
    if (!a.take()) continue;
    simt::store_relaxed(a.records, simt::load_relaxed(a.records) + 1);
    simt::fence_device();  // as open_log does
    a.free();
    ++done;
  }
}
TEST(run_array, what_a_run_wrote_is_visible_to_the_next) {
  test::under_many_schedules(1, [](std::uint64_t) {
    warden::buffer<std::uint32_t> records{1}, at_work{1};
    records.fill_bytes(0);
    at_work.fill_bytes(0);
    warden::detail::run_array<std::uint32_t> a;
    a.records = records.data();
    a.at_work = at_work.data();
    simt::launch(&take_in_turn, blocks, 32, 0, a, {});
    EXPECT_EQ(records.to_host()[0], blocks * rounds) << "lost update";
  });
}

}  // namespace
