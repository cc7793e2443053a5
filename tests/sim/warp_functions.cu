// SPDX-License-Identifier: Apache-2.0
// Warp functions that GPUs have from compute capability 8.0 on, and accesses of 16 bytes.

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>

#include <gtest/gtest.h>

#include <vector>

namespace {

__global__ void lanes_together(unsigned* r) {
  unsigned const lane = threadIdx.x;
  int all = 2, none = 2;
  unsigned const same = __match_all_sync(~0u, 5, &all);
  unsigned const different = __match_all_sync(~0u, lane / 31, &none);
  unsigned const least = static_cast<unsigned>(__reduce_min_sync(~0u, 40 - static_cast<int>(lane)));
  unsigned const odd = lane % 2 == 0 ? 0 : __reduce_add_sync(0xaaaaaaaau, lane);
  unsigned const bits = __reduce_xor_sync(~0u, 1u << lane);
  if (lane != 31) return;
  unsigned const v[] = {
      same, static_cast<unsigned>(all), different, static_cast<unsigned>(none), least, odd, bits};
  for (unsigned i = 0; i < 7; ++i) r[i] = v[i];
}
TEST(warp_functions, match_and_reduce_lanes_in_a_mask) {
  warden::buffer<unsigned> device{7};
  warden::launch(lanes_together, 1, 32, {}, device.data());
  EXPECT_EQ(device.to_host(), (std::vector<unsigned>{~0u, 1, 0, 0, 9, 256, ~0u}));
}

struct alignas(16) wide {
  unsigned long long count, copy;
};
__global__ void count_wide(wide* w) {
  wide seen{0, 0}, expected;
  do {
    expected = seen;
    seen = atomicCAS(w, expected, wide{expected.count + 1, expected.count + 1});
  } while (seen.count != expected.count);
}
TEST(warp_functions, compare_and_swap_of_16_bytes) {
  warden::buffer<wide> device{1};
  device.fill_bytes(0);
  warden::launch(count_wide, 2, 40, {}, device.data());
  EXPECT_EQ(device.to_host()[0].count, 80u);
  EXPECT_EQ(device.to_host()[0].copy, 80u);
}

}  // namespace
