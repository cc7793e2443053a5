// SPDX-License-Identifier: Apache-2.0
// Plain kernels behave the same on both devices: launches, indices, shared memory, and CUDA's
// names; and they defer sections.

#include "tests/sim/plain_kernels.cuh"
#include "tests/support/support.cuh"

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

template <class T>
warden::buffer<T> zeros(std::size_t n) {
  warden::buffer<T> b{n};
  b.fill_bytes(0);
  return b;
}

TEST(plain_kernels, reduce) {
  std::vector<unsigned> values(test::sized(3000u, 3'000'000u));
  for (unsigned i = 0; i < values.size(); ++i) values[i] = i * i;
  warden::buffer<unsigned> const from{values};
  auto sum = zeros<unsigned>(1);
  auto const n = static_cast<unsigned>(values.size());
  warden::launch(plain::reduce<plain::with::all>, 5, 96, {}, from.data(), n, sum.data());
  EXPECT_EQ(sum.to_host()[0], std::accumulate(values.begin(), values.end(), 0u));
}

TEST(plain_kernels, blocks_and_grids_of_two_dimensions) {
  unsigned const width = 45, height = 19;
  std::vector<unsigned> values(width * height);
  std::iota(values.begin(), values.end(), 0u);
  warden::buffer<unsigned> const from{values};
  warden::buffer<unsigned> to{values.size()};
  dim3 const block{plain::tile_side, plain::tile_side};
  dim3 const grid{(width + block.x - 1) / block.x, (height + block.y - 1) / block.y};
  warden::launch(plain::transpose<plain::with::all>, grid, block, {}, from.data(), to.data(), width,
                 height);
  auto const transposed = to.to_host();
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) ASSERT_EQ(transposed[x * height + y], y * width + x);
  }
}

/// A thread's view of its place.
struct place {
  uint3 thread, block;
  unsigned grid, threads, lane;
};
__global__ void tell_places(place* places) {
  unsigned const rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned const threads = blockDim.x * blockDim.y * blockDim.z;
  // The warps are cut from the threads in that order: lane 0 of each is the one whose rank says so.
  unsigned const lane = rank - __shfl_sync(~0u, rank, 0);
  places[block * threads + rank] = {threadIdx, blockIdx, gridDim.x * gridDim.y * gridDim.z, threads,
                                    lane};
}
TEST(plain_kernels, indices_of_three_dimensions) {
  warden::dimensions const grid{3, 2, 4}, block{5, 4, 3};
  warden::buffer<place> places{24 * 60};
  warden::launch(tell_places, grid, block, {}, places.data());
  auto const told = places.to_host();
  for (unsigned i = 0; i < told.size(); ++i) {
    place const& p = told[i];
    ASSERT_EQ((p.thread.z * 4 + p.thread.y) * 5 + p.thread.x, i % 60);
    ASSERT_EQ((p.block.z * 2 + p.block.y) * 3 + p.block.x, i / 60);
    ASSERT_EQ(p.grid, 24u);
    ASSERT_EQ(p.threads, 60u);
    ASSERT_EQ(p.lane, i % 60 % 32);
  }
}

constexpr unsigned answers = 16;
/// A warp of 20 lanes, the last four of which leave at once.
__global__ void ask_warp(int* results) {
  int const lane = static_cast<int>(threadIdx.x);
  if (lane >= 16) return;
  int* const r = results + lane * answers;
  int const value = 10 * lane;
  r[0] = __shfl_sync(~0u, value, 3);
  r[1] = __shfl_sync(~0u, value, lane + 1, 4);
  r[2] = __shfl_up_sync(~0u, value, 2);
  r[3] = __shfl_up_sync(~0u, value, 1, 8);
  r[4] = __shfl_down_sync(~0u, value, 1, 8);
  r[5] = __shfl_xor_sync(~0u, value, 5);
  r[6] = static_cast<int>(__ballot_sync(~0u, lane % 3 == 0));
  r[7] = __any_sync(~0u, lane == 7) + 2 * __any_sync(~0u, lane == 99);
  r[8] = __all_sync(~0u, lane < 16) + 2 * __all_sync(~0u, lane < 15);
  r[9] = static_cast<int>(__match_any_sync(~0u, lane / 4));
  r[10] = static_cast<int>(__shfl_sync(~0u, 0.5 * lane, 4));
  r[11] = (__activemask() >> lane & 1u) != 0;
  __syncwarp();
  unsigned const half = lane < 8 ? 0x00ffu : 0xff00u;
  r[12] = static_cast<int>(__ballot_sync(half, lane % 2));
  r[13] = __shfl_xor_sync(half, value, 7);
}
TEST(plain_kernels, warp_functions) {
  auto results = zeros<int>(16 * answers);
  warden::launch(ask_warp, 1, 20, {}, results.data());
  auto const told = results.to_host();
  for (int lane = 0; lane < 16; ++lane) {
    SCOPED_TRACE("lane " + std::to_string(lane));
    int const* const r = told.data() + static_cast<unsigned>(lane) * answers;
    EXPECT_EQ(r[0], 30);
    EXPECT_EQ(r[1], 10 * (lane / 4 * 4 + (lane + 1) % 4));
    EXPECT_EQ(r[2], 10 * (lane < 2 ? lane : lane - 2));
    EXPECT_EQ(r[3], 10 * (lane % 8 == 0 ? lane : lane - 1));
    EXPECT_EQ(r[4], 10 * (lane % 8 == 7 ? lane : lane + 1));
    EXPECT_EQ(r[5], 10 * (lane ^ 5));
    EXPECT_EQ(r[6], 0x9249);
    EXPECT_EQ(r[7], 1);
    EXPECT_EQ(r[8], 1);
    EXPECT_EQ(r[9], 0xf << (lane / 4 * 4));
    EXPECT_EQ(r[10], 2);
    EXPECT_EQ(r[11], 1);
    EXPECT_EQ(r[12], lane < 8 ? 0xaa : 0xaa00);
    EXPECT_EQ(r[13], 10 * (lane ^ 7));
  }
}

__global__ void ask_block(int* results) {
  int const i = static_cast<int>(threadIdx.x);
  int const count = __syncthreads_count(i % 3 == 0);
  int const any = __syncthreads_or(i == 40), none = __syncthreads_or(i == 99);
  int const all = __syncthreads_and(i < 70), some = __syncthreads_and(i < 69);
  results[i] = count * 16 + (any != 0) + 2 * (none != 0) + 4 * (all != 0) + 8 * (some != 0);
}
TEST(plain_kernels, barriers_that_reduce) {
  warden::buffer<int> results{70};
  warden::launch(ask_block, 1, 70, {}, results.data());
  EXPECT_EQ(results.to_host(), std::vector<int>(70, 24 * 16 + 5));
}

/// The old values, then the new ones.
__global__ void use_atomics(unsigned* u, int* i, unsigned long long* l, float* f, double* d) {
  WARDEN_SHARED(unsigned, in_shared);
  in_shared = 100;
  u[1] = atomicAdd(&u[0], 5u);
  u[2] = atomicSub(&u[0], 2u);
  u[3] = atomicExch(&u[0], 0xf0u);
  u[4] = atomicAnd(&u[0], 0xccu);
  u[5] = atomicOr(&u[0], 0x03u);
  u[6] = atomicXor(&u[0], 0xffu);
  u[7] = atomicCAS(&u[0], 1u, 2u);
  u[8] = atomicCAS(&u[0], 0x3cu, 2u);
  u[9] = atomicInc(&u[0], 2u);
  u[10] = atomicDec(&u[0], 9u);
  u[11] = atomicAdd(&in_shared, 11u);
  u[12] = atomicMax(&in_shared, 200u);
  u[13] = in_shared;
  i[1] = atomicMin(&i[0], -4);
  i[2] = atomicMax(&i[0], -2);
  l[1] = atomicAdd(&l[0], 1ull << 40);
  l[2] = atomicMax(&l[0], 1ull << 50);
  f[1] = atomicAdd(&f[0], 1.5f);
  d[1] = atomicAdd(&d[0], 2.25);
}
TEST(plain_kernels, atomics) {
  auto u = zeros<unsigned>(14);
  auto i = zeros<int>(3);
  auto l = zeros<unsigned long long>(3);
  auto f = zeros<float>(2);
  auto d = zeros<double>(2);
  warden::launch(use_atomics, 1, 1, {}, u.data(), i.data(), l.data(), f.data(), d.data());
  EXPECT_EQ(u.to_host(),
            (std::vector<unsigned>{9, 0, 5, 3, 0xf0, 0xc0, 0xc3, 0x3c, 0x3c, 2, 0, 100, 111, 200}));
  EXPECT_EQ(i.to_host(), (std::vector<int>{-2, 0, -4}));
  EXPECT_EQ(l.to_host(), (std::vector<unsigned long long>{1ull << 50, 0, 1ull << 40}));
  EXPECT_EQ(f.to_host(), (std::vector<float>{1.5f, 0}));
  EXPECT_EQ(d.to_host(), (std::vector<double>{2.25, 0}));
}

__global__ void compute(unsigned value, long long* results) {
  results[0] = __popc(value);
  results[1] = __clz(static_cast<int>(value));
  results[2] = __ffs(static_cast<int>(value));
  results[3] = __brev(value);
  unsigned long long const wide = static_cast<unsigned long long>(value) << 20;
  results[4] = __popcll(wide);
  results[5] = __clzll(static_cast<long long>(wide));
  results[6] = __ffsll(static_cast<long long>(wide));
  results[7] = static_cast<long long>(__brevll(wide));
  results[8] = min(3, 4) + max(5u, value);
  results[9] = __ffs(0);
}
TEST(plain_kernels, arithmetic) {
  warden::buffer<long long> results{10};
  warden::launch(compute, 1, 1, {}, 0x01230010u, results.data());
  EXPECT_EQ(results.to_host(),
            (std::vector<long long>{5, 7, 5, 0x0800c480, 5, 19, 25, 0x0800c480000, 0x01230013, 0}));
}

__global__ void reverse(int* numbers) {
  WARDEN_DYNAMIC_SHARED(int, kept);
  kept[threadIdx.x] = numbers[threadIdx.x];
  // The last word of the requested memory, too.
  kept[20'000 + threadIdx.x] = 0;
  __syncthreads();
  numbers[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
TEST(plain_kernels, dynamic_shared_memory_beyond_48_kilobytes) {
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 0);
  warden::buffer<int> numbers{values};
  warden::launch(reverse, {.grid = 1, .block = 64, .shared_bytes = 20'064 * sizeof(int)}, {},
                 numbers.data());
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(numbers.to_host(), values);
}

__global__ void store(unsigned long long* to, float a, unsigned short b, long long c) {
  to[0] = static_cast<unsigned long long>(a * 4) + b + static_cast<unsigned long long>(c);
}
TEST(plain_kernels, arguments_are_converted) {
  auto result = zeros<unsigned long long>(1);
  warden::stream_ref{}.synchronize();
  int seven = 65536 + 7;
  warden::stream s;
  warden::launch(store, 1, 1, s, result.data(), 2, seven, 30u);
  s.synchronize();
  EXPECT_EQ(result.to_host()[0], 8u + 7u + 30u);
}

__global__ void count(unsigned* counter) { atomicAdd(counter, 1u); }
TEST(plain_kernels, more_blocks_than_the_device_holds) {
  auto counter = zeros<unsigned>(1);
  warden::launch(count, 3000, 64, {}, counter.data());
  EXPECT_EQ(counter.to_host()[0], 3000u * 64);
}

__global__ void nothing() {}
/// Returns the error of a launch.
template <class... Size>
std::string refusal(Size... size) {
  try {
    warden::launch(nothing, size..., warden::located_stream{});
  } catch (warden::limit_error const& e) {
    return e.what();
  }
  return "launched";
}
TEST(plain_kernels, impossible_launches_are_refused) {
  using warden::dimensions;
  EXPECT_EQ(refusal(dimensions{1}, dimensions{1024}), "launched");
  EXPECT_EQ(refusal(dimensions{1}, dimensions{4, 4, 64}), "launched");
  EXPECT_THAT(refusal(0, 32), HasSubstr("launch: a grid of 0 x 1 x 1; the limits are 1 x 1 x 1 and "
                                        "2147483647 x 65535 x 65535"));
  EXPECT_THAT(refusal(1, 0), HasSubstr("a block of 0 x 1 x 1; the limits are 1 x 1 x 1 and 1024 x "
                                       "1024 x 64"));
  EXPECT_THAT(refusal(1, 1025), HasSubstr("a block of 1025 x 1 x 1;"));
  EXPECT_THAT(refusal(dimensions{1, 65536}, 32), HasSubstr("a grid of 1 x 65536 x 1;"));
  EXPECT_THAT(refusal(1, dimensions{1, 1, 65}), HasSubstr("a block of 1 x 1 x 65;"));
  EXPECT_THAT(refusal(1, dimensions{33, 32}),
              HasSubstr("launch: a block of 1056 threads; the limit is 1024"));
  EXPECT_THAT(
      refusal(warden::launch_size{3, 32, 0, 2}),
      HasSubstr("launch: clusters of 2 blocks in a grid of 3; their size must divide the grid"));
  EXPECT_THAT(refusal(warden::launch_size{3, 32, 0, 0}), HasSubstr("launch: clusters of 0 blocks"));
  auto const most = warden::runtime::facts(0).shared_bytes_per_block;
  EXPECT_EQ(refusal(warden::launch_size{1, 1, most}), "launched");
  EXPECT_THAT(refusal(warden::launch_size{1, 1, most + 1}),
              HasSubstr("a block with " + std::to_string(most + 1) +
                        " bytes of dynamic shared memory; the device has " + std::to_string(most)));
  warden::stream_ref{}.synchronize();
}
TEST(plain_kernels, a_refusal_names_the_callers_line) {
  unsigned line = 0;
  try {
    line = __LINE__ + 1;
    warden::launch(nothing, 0, 32, {});
    FAIL();
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.what(), HasSubstr("plain_kernels.cu:" + std::to_string(line)));
  }
}

struct cell {
  unsigned long long sum;
};
struct add {
  unsigned amount;
  __device__ void operator()(cell& c) const { c.sum += amount; }
};
using cells = warden::guarded<cell, add>;
__global__ void add_columns(cells::deferred_ref to, unsigned width, unsigned height) {
  unsigned const x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) to.send(x, add{y + 1});
}
TEST(plain_kernels, blocks_of_two_dimensions_defer_sections) {
  unsigned const width = 45, height = test::sized(30u, 3000u);
  auto records = zeros<cell>(width);
  cells all{records};
  warden::deferred later{all, std::size_t{width} * height};
  dim3 const block{8, 12};
  warden::launch(add_columns, dim3{6, (height + 11) / 12}, block, {}, later.ref(), width, height);
  later.run();
  all.wait();
  for (cell const& c : records.to_host())
    ASSERT_EQ(c.sum, std::uint64_t{height} * (height + 1) / 2);
}

}  // namespace
