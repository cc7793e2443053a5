// SPDX-License-Identifier: Apache-2.0
// CUDA's arithmetic, vector types, scoped atomics and cache hints: the same values on both devices.

#include <warden/buffer.hpp>
#include <warden/cuda_names.cuh>

#include <gtest/gtest.h>

#include <vector>

namespace {

constexpr unsigned most = 32;
/// Values that threads leave in a kernel, by place.
struct results {
  unsigned long long values[most];
};

__global__ void integers(results* r) {
  unsigned long long* const v = r->values;
  v[0] = __float_as_uint(1.0f);
  v[1] = static_cast<unsigned>(__int_as_float(0x40400000));
  v[2] = static_cast<unsigned long long>(__double_as_longlong(-2.0));
  v[3] = static_cast<unsigned long long>(__hiloint2double(0x40080000, 0));
  v[4] = __umulhi(0x80000000u, 6u);
  v[5] = static_cast<unsigned>(__mulhi(-1, 2));
  v[6] = __umul64hi(1ull << 63, 10);
  v[7] = static_cast<unsigned long long>(__mul64hi(-1, 2));
  v[8] = __byte_perm(0x33221100u, 0x77665544u, 0x7530u);
  v[9] = __byte_perm(0x00008000u, 0u, 0x9999u);
  v[10] = __funnelshift_l(0x80000000u, 1u, 1);
  v[11] = __funnelshift_r(0x80000001u, 1u, 1);
  v[12] = __usad(3u, 10u, 1u);
  v[13] = static_cast<unsigned>(__float2int_rd(-1.5f));
  v[14] = static_cast<unsigned>(__float2int_rn(2.5f));
  v[15] = static_cast<unsigned>(__double2int_rz(-1.5));
  v[16] = static_cast<unsigned>(rsqrtf(0.0625f));
  v[17] = static_cast<unsigned>(__fdividef(12.0f, 4.0f));
  v[18] = static_cast<unsigned>(__saturatef(7.0f));
  v[19] = static_cast<unsigned>(__expf(0.0f));
  v[20] = __fns(0x90u, 0, 2);
}
TEST(device_functions, of_numbers) {
  warden::buffer<results> device{1};
  warden::launch(integers, 1, 1, {}, device.data());
  auto const host = device.to_host();
  std::vector<unsigned long long> const expected{0x3f800000, 3,          0xc000000000000000,
                                                 3,          3,          0xffffffff,
                                                 5,          ~0ull,      0x77553300,
                                                 0x80808080, 3,          0xc0000000,
                                                 8,          0xfffffffe, 2,
                                                 0xffffffff, 4,          3,
                                                 1,          1,          7};
  for (unsigned i = 0; i < expected.size(); ++i) EXPECT_EQ(host[0].values[i], expected[i]) << i;
}

static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(alignof(int2) == 8 && alignof(uchar4) == 4 && alignof(ulonglong2) == 16);

__global__ void vectors(float4* v) {
  float4 const four = __ldcs(&v[0]);
  int2 const two = make_int2(3, 4);
  uint3 const three = make_uint3(5, 6, 7);
  __stwt(&v[1], make_float4(four.w, static_cast<float>(two.x * two.y), static_cast<float>(three.z),
                            four.x));
}
TEST(device_functions, of_vectors) {
  warden::buffer<float4> device{std::vector<float4>{{1, 2, 3, 4}, {}}};
  warden::launch(vectors, 1, 1, {}, device.data());
  float4 const v = device.to_host()[1];
  EXPECT_EQ(v.x, 4);
  EXPECT_EQ(v.y, 12);
  EXPECT_EQ(v.z, 7);
  EXPECT_EQ(v.w, 1);
}

__global__ void scopes(unsigned* sums, unsigned short* narrow) {
  atomicAdd_block(&sums[blockIdx.x], 2u);
  atomicAdd_system(&sums[2], 1u);
  atomicMax_block(&sums[3 + blockIdx.x], threadIdx.x);
  unsigned short seen = 0, expected;
  do {
    expected = seen;
    seen = atomicCAS(&narrow[1], expected, static_cast<unsigned short>(expected + 1));
  } while (seen != expected);
}
TEST(device_functions, atomics_of_scopes_and_of_two_bytes) {
  warden::buffer<unsigned> sums{5};
  warden::buffer<unsigned short> narrow{std::vector<unsigned short>{7, 0, 9}};
  sums.fill_bytes(0);
  warden::launch(scopes, 2, 40, {}, sums.data(), narrow.data());
  EXPECT_EQ(sums.to_host(), (std::vector<unsigned>{80, 80, 80, 39, 39}));
  EXPECT_EQ(narrow.to_host(), (std::vector<unsigned short>{7, 80, 9}));
}

}  // namespace
