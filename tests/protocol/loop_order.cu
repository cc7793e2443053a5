// SPDX-License-Identifier: Apache-2.0
// Loops that send in order: those of the library have the order of their indexes, and the simulated
// device finds loops of a user that have another one.

#include "tests/protocol/order.cuh"
#include "tests/support/error_text.hpp"

#include <warden/cuda_names.cuh>
#include <warden/simulation.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace simt = warden::simt;
using ordering::append;
using ordering::traced;
using test::error_text;
using testing::HasSubstr;

/// Section i of a loop, for the same records as in the other tests of the order.
struct traced_section {
  std::uint32_t keys;
  __device__ auto operator()(std::uint64_t i) const {
    using result = warden::nothing_or<warden::to<append>>;
    auto const k = static_cast<std::uint32_t>(i);
    return ordering::sends(k) ? result{warden::to{ordering::id_of(k, keys), append{k}}} : result{};
  }
};
using in_memory = ordering::in_order<warden::placement::in_memory>;
using traces = ordering::traces<warden::placement::in_memory>;
constexpr std::uint32_t keys = 7;

/// Records that are compared with what a loop over i < n leaves.
struct trace_check {
  warden::buffer<traced> records{keys};
  traces on{records};

  trace_check() { records.fill_bytes(0); }
  void expect_loop(std::uint32_t n) {
    on.wait();
    std::vector<traced> loop(keys);
    for (std::uint32_t i = 0; i < n; ++i)
      if (ordering::sends(i)) append{i}(loop[ordering::id_of(i, keys)]);
    auto const found = records.to_host();
    for (std::uint32_t k = 0; k < keys; ++k) {
      ASSERT_EQ(found[k].count, loop[k].count) << "lost or doubled section on record " << k;
      ASSERT_EQ(found[k].trace, loop[k].trace) << "wrong order on record " << k;
    }
  }
};
TEST(send_async, has_the_order_of_the_loop) {
  std::uint32_t const n = test::sized(5000u, 3'000'000u);
  for (std::uint32_t const room : {n, n / 3}) {
    trace_check check;
    warden::deferred log{check.on, room};
    warden::send_async(log, n, traced_section{keys});
    log.run();
    check.expect_loop(n);
  }
}

using client = traces::deferred_block<64>;
struct loop {
  traces::deferred_ref ref, other;
  std::uint32_t n;
  std::uint32_t* refused;
};
WARDEN_KERNEL void send_for_each(loop a) {
  WARDEN_SHARED(client::storage, storage);
  client block{a.ref, storage};
  std::uint32_t const refused = block.for_each(a.n, traced_section{keys});
  if (simt::thread_rank() == 0) simt::fetch_add(a.refused, refused);
}
TEST(for_each, has_the_order_of_the_loop_in_any_grid) {
  std::uint32_t const n = test::sized(3000u, 1'000'000u);
  warden::buffer<std::uint32_t> refused{1};
  refused.fill_bytes(0);
  for (unsigned const blocks : {1u, 5u, 100u}) {
    trace_check check;
    warden::deferred log{check.on, n};
    warden::launch(send_for_each, blocks, 64, {}, {log.ref(), {}, n, refused.data()});
    log.run();
    check.expect_loop(n);
  }
  EXPECT_EQ(refused.to_host()[0], 0u);
}
TEST(for_each, returns_the_number_of_sections_without_a_place) {
  constexpr std::uint32_t n = 500, sent = 400;  // as `sends` says
  warden::buffer<std::uint32_t> refused{1};
  refused.fill_bytes(0);
  trace_check check;
  warden::deferred log{check.on, 100};
  warden::launch(send_for_each, 2, 64, {}, {log.ref(), {}, n, refused.data()});
  log.run();
  EXPECT_THAT(error_text(check.on), HasSubstr("300 deferred sections were refused"));
  EXPECT_EQ(refused.to_host()[0], sent - 100);
}

// ---- loops that have another order: the simulated device finds them

WARDEN_KERNEL void send_in_grid_stride(loop a) {
  WARDEN_SHARED(client::storage, storage);
  client block{a.ref, storage};
  for (std::uint32_t first = blockIdx.x * 64; first < a.n; first += gridDim.x * 64) {
    std::uint32_t const i = first + threadIdx.x;
    block.send_at(i, i % 2, append{i}, i < a.n);
  }
  block.flush();
}
WARDEN_KERNEL void send_two_loops(loop a) {
  WARDEN_SHARED(client::storage, storage);
  client block{a.ref, storage};
  block.for_each(a.n, traced_section{keys});
  block.for_each(a.n, traced_section{keys});
}
WARDEN_KERNEL void send_two_loops_by_two_refs(loop a) {
  WARDEN_SHARED(client::storage, storage);
  {
    client block{a.ref, storage};
    block.for_each(a.n, traced_section{keys});
  }
  client block{a.other, storage};
  block.for_each(a.n, traced_section{keys});
}
/// Returns the error of the simulated device if `blocks` blocks send in a loop over 200 numbers.
std::string misuse_of(void (*kernel)(loop), unsigned blocks) {
  trace_check check;
  warden::deferred log{check.on, 400};
  return test::error_of<warden::sim::misuse_error>([&] {
    auto const first = log.ref(), second = log.ref();
    warden::launch(kernel, blocks, 64, {}, {first, second, 200, nullptr});
    log.run();
    check.on.wait();
  });
}
TEST(send_at, of_a_grid_stride_loop_is_reported) {
  if (!test::simulated()) GTEST_SKIP() << "a GPU checks nothing";
  auto const text = misuse_of(send_in_grid_stride, 2);
  EXPECT_THAT(text, testing::ContainsRegex(
                        "order::sequential: on record [01], index 1[2-9][0-9] \\(sent at "
                        "loop_order.cu:[0-9]+\\) would run before index [0-9]+ \\(sent at "
                        "loop_order.cu:[0-9]+\\), because"));
  EXPECT_THAT(text, HasSubstr("give each block one contiguous range of indexes, as for_each does"));
  // One block runs it in order.
  EXPECT_EQ(misuse_of(send_in_grid_stride, 1), "");
}
TEST(for_each, twice_in_a_launch_needs_two_refs) {
  if (!test::simulated()) GTEST_SKIP() << "a GPU checks nothing";
  EXPECT_THAT(misuse_of(send_two_loops, 2), HasSubstr("would run before index"));
  EXPECT_EQ(misuse_of(send_two_loops_by_two_refs, 2), "");
}

}  // namespace
