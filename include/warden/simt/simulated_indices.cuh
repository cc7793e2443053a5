// SPDX-License-Identifier: Apache-2.0
// CUDA's annotations and indices on the simulated device.
#pragma once

#include <warden/simt/annotations.cuh>
#include <warden/simt/dimensions.hpp>
#include <warden/simt/sim_device.hpp>

#include <cstdint>

// Additional to those of annotations.cuh, which Warden's own users need, too.
#define __forceinline__ inline
// Empty, because the host's headers use it among their attributes.
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

WARDEN_NAMESPACE_BEGIN
/// Names that CUDA has in the global namespace.
namespace cuda_names {

using dim3 = dimensions;
using uint3 = sim::device::index;

inline constexpr int warpSize = 32;
inline uint3 const& threadIdx = sim::device::here.thread;
inline uint3 const& blockIdx = sim::device::here.block;
inline dim3 const& blockDim = sim::device::here.threads;
inline dim3 const& gridDim = sim::device::here.blocks;

// ---- time and end

inline long long clock64() { return static_cast<long long>(sim::device::nanoseconds()); }
inline void __nanosleep(unsigned, sim::device::site where = sim::device::site::current()) {
  sim::device::yield(where);
}
[[noreturn]] inline void __trap(sim::device::site where = sim::device::site::current()) {
  sim::device::misuse("the kernel trapped", where);
}

}  // namespace cuda_names
WARDEN_NAMESPACE_END
