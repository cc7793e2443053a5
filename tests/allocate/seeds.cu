// SPDX-License-Identifier: Apache-2.0
// Allocation under many schedules of the simulated device: blocks look back at others that are
// anywhere.

#include "tests/allocate/in_kernels.cuh"
#include "tests/support/many_schedules.cuh"

namespace {

TEST(allocation, in_order_under_many_schedules) {
  test::emission e{330, 1};
  test::under_many_schedules(1, [&](std::uint64_t seed) {
    e.out.clear_async(e.stream);
    e.launch_in_order(&test::emit_ordered, 1 + static_cast<unsigned>(seed % 7));
    e.expect_all(test::same::order);
  });
}
TEST(allocation, of_blocks_and_lanes_under_many_schedules) {
  test::emission e{330, 1};
  test::under_many_schedules(2, [&](std::uint64_t seed) {
    e.out.clear_async(e.stream);
    e.launch(seed % 3 == 0 ? &test::emit_by_lanes : &test::emit_unordered, 3);
    e.expect_all(test::same::elements);
  });
}

template <class Policy>
void allocate_under_many_schedules() {
  test::emission e{330, 1};
  test::under_many_schedules(2, [&](std::uint64_t) {
    e.out.clear_async(e.stream);
    warden::allocate_async<Policy>(e.counts.size(), test::counts_in{e.device_counts.data()},
                                   test::numbered{}, e.out, e.stream);
    e.expect_all(std::is_same_v<typename Policy::contract, warden::unordered> ? test::same::elements
                                                                              : test::same::order);
  });
}
TEST(allocation, by_one_call_under_many_schedules) {
  allocate_under_many_schedules<warden::ordered_allocation<32, 2>>();
  allocate_under_many_schedules<warden::unordered_allocation<64, 1>>();
  allocate_under_many_schedules<warden::reduce_then_scan_allocation<32, 2>>();
}

/// More tiles than a warp looks at at once.
TEST(allocation, looks_far_back) {
  test::emission e{64 * 70, 1};
  test::under_many_schedules(20, [&](std::uint64_t) {
    e.out.clear_async(e.stream);
    e.launch_in_order(&test::emit_ordered, 60);
    e.expect_all(test::same::order);
  });
}

}  // namespace
