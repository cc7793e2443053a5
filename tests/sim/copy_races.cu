// SPDX-License-Identifier: Apache-2.0
// Races of copies to shared memory with plain accesses: faulty kernels are found, and right ones
// are silent.

#include "race_errors.cuh"

#include <warden/cuda_names.cuh>
#include <warden/simt/bulk_copy.cuh>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace {

using namespace race_errors;
using testing::HasSubstr;
namespace simt = warden::simt;

/// A row of 32 words in dynamic shared memory, and the barrier of its copies.
struct copied {
  unsigned* row = reinterpret_cast<unsigned*>(simt::dynamic_shared());
  simt::phase_barrier& barrier = *reinterpret_cast<simt::phase_barrier*>(row + 32);

  copied() {
    if (threadIdx.x == 0) barrier.init(1);
    simt::fence_copies();
    __syncthreads();
  }
  void start(unsigned const* from) {
    if (threadIdx.x == 0) simt::copy_row(1, reinterpret_cast<std::byte*>(row), from, 128, barrier);
  }
  void wait(unsigned phase) {
    barrier.wait(phase, [] { return true; });
  }
};

template <bool Right>
__global__ void reads_a_row(unsigned* sum, unsigned* rows) {
  copied here;
  here.start(rows);
  if (Right) here.wait(0);
  unsigned const mine = here.row[threadIdx.x % 32];
  here.wait(0);
  atomicAdd(sum, mine);
}
TEST(copy_races, are_found_before_the_wait) {
  std::string const error = error_in(20, reads_a_row<false>);
  EXPECT_THAT(error, HasSubstr("wait for the copy's phase before the access"));
  EXPECT_THAT(error, HasSubstr("the plain store by a bulk copy, which was started"));
  EXPECT_EQ(error_in(20, reads_a_row<true>), "");
}

template <bool Right>
__global__ void copies_twice(unsigned* sum, unsigned* rows) {
  copied here;
  here.start(rows);
  here.wait(0);
  unsigned const mine = here.row[threadIdx.x % 32];
  if (Right) __syncthreads();
  here.start(rows + 32);
  here.wait(1);
  atomicAdd(sum, mine);
}
TEST(copy_races, are_found_in_a_row_that_is_used_again) {
  EXPECT_THAT(error_in(20, copies_twice<false>),
              HasSubstr("reach a barrier before the copy starts"));
  EXPECT_EQ(error_in(20, copies_twice<true>), "");
}

template <bool Right>
__global__ void writes_the_source(unsigned*, unsigned* rows) {
  copied here;
  unsigned* const own = rows + blockIdx.x * 32;
  here.start(own);
  if (Right) here.wait(0);
  if (threadIdx.x == 40) own[7] = 1;
  here.wait(0);
}
TEST(copy_races, are_found_at_the_source) {
  EXPECT_THAT(error_in(20, writes_the_source<false>), HasSubstr("data race: "));
  EXPECT_EQ(error_in(20, writes_the_source<true>), "");
}

}  // namespace
