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
  test::under_many_schedules(2, [&](std::uint64_t seed) {
    if (seed % 4 == 1) test::let_one_block_be_resident();
    e.out.clear_async(e.stream);
    warden::allocate_async<Policy>(e.counts.size(), test::counts_in{e.device_counts.data()},
                                   test::numbered{}, e.out, e.stream);
    e.expect_all(std::is_same_v<typename Policy::contract, warden::unordered> ? test::same::elements
                                                                              : test::same::order);
  });
}
TEST(allocation, by_one_call_under_many_schedules) {
  allocate_under_many_schedules<warden::ordered_allocation<64, 1>>();
  allocate_under_many_schedules<warden::unordered_allocation<64, 2>>();
  allocate_under_many_schedules<warden::reduce_then_scan_allocation<64, 1>>();
}

/// More shares than the block that places them has threads, and long tiles that blocks share.
TEST(allocation, of_many_shares_and_long_tiles_under_many_schedules) {
  using policy = warden::reduce_then_scan_allocation<64, 1>;
  test::emission e{64 * 80, 1};
  std::vector<std::uint32_t> counts(400, 1);
  counts[70] = 20'000;
  counts[195] = 3'000;  // not long: one warp's
  counts[260] = 17'000;
  auto const wanted = test::elements_of(counts);
  warden::buffer<std::uint32_t> const device_counts{counts};
  test::guarded_memory<std::uint64_t> memory{wanted.size(), 1};
  warden::output out{memory};
  test::under_many_schedules(20, [&](std::uint64_t seed) {
    if (seed % 10 != 1) return;
    warden::sim::settings s = warden::sim::current_settings();
    s.multiprocessors = 10;
    warden::sim::configure(s);
    e.out.clear_async(e.stream);
    warden::allocate_async<policy>(e.counts.size(), test::counts_in{e.device_counts.data()},
                                   test::numbered{}, e.out, e.stream);
    e.expect_all(test::same::order);
    s.multiprocessors = 1;
    s.blocks_per_multiprocessor = 1;
    warden::sim::configure(s);
    out.clear_async(e.stream);
    warden::allocate_async<policy>(counts.size(), test::counts_in{device_counts.data()},
                                   test::numbered_by_value{}, out, e.stream);
    ASSERT_EQ(out.wait(e.stream), wanted.size());
    EXPECT_TRUE(memory.to_host(e.stream) == wanted);
  });
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
