// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA's names on the simulated device, for `__global__` functions as they stand in CUDA code; and
/// two macros for shared memory, on both devices. For a GPU there is nothing else.
///
/// | group | names |
/// |---|---|
/// | annotations | `__global__ __device__ __host__ __forceinline__ __noinline__ __launch_bounds__`
/// | | ^ | `__grid_constant__ __align__` | | indices | `threadIdx blockIdx blockDim gridDim
/// warpSize`, the types `dim3` and `uint3` | | block | `__syncthreads __syncthreads_or
/// __syncthreads_and __syncthreads_count` | | warp | `__syncwarp __shfl_sync __shfl_up_sync
/// __shfl_down_sync __shfl_xor_sync` | | ^ | `__any_sync __all_sync __ballot_sync __match_any_sync
/// __activemask` | | atomics | `atomicAdd atomicSub atomicExch atomicCAS atomicMin atomicMax
/// atomicInc atomicDec` | | ^ | `atomicAnd atomicOr atomicXor`, each for CUDA's types of 4 and 8
/// bytes | | memory | `__ldg __ldcg __ldcv __stcg __threadfence __threadfence_block
/// __threadfence_system` | | arithmetic | `__popc __clz __ffs __brev`, each with `ll` as well, and
/// `min max` | | time and end | `clock64 __nanosleep __trap` |
///
/// They are scheduling points and know their line as everything of the seam does. What shared
/// memory, `__activemask` and full masks mean there: docs/simulated-device.md.
#pragma once

#if defined(__CUDACC__)

#  include <type_traits>

/// A block's variable in static shared memory: `WARDEN_SHARED(float[16][17], tile);` for
/// `__shared__ float tile[16][17];`. Garbage at first.
#  define WARDEN_SHARED(type, name) __shared__ ::std::type_identity_t<type> name
/// The block's dynamic shared memory, aligned to 128 bytes: `WARDEN_DYNAMIC_SHARED(float, values);`
/// makes `values` a pointer. Garbage at first.
#  define WARDEN_DYNAMIC_SHARED(type, name)                          \
    extern __shared__ __align__(128) unsigned char warden_dynamic[]; \
    type* const name = reinterpret_cast<type*>(warden_dynamic)

#else

#  include <warden/simt/simulated_atomics.cuh>
#  include <warden/simt/simulated_indices.cuh>
#  include <warden/simt/simulated_warp.cuh>

#  include <source_location>
#  include <type_traits>

#  define WARDEN_SHARED(type, name)                                                              \
    static constexpr char warden_key_of_##name{};                                                \
    [[maybe_unused]] auto& name = *static_cast<::std::type_identity_t<type>*>(                   \
        ::warden::sim::device::static_shared(&warden_key_of_##name, sizeof(type), alignof(type), \
                                             ::std::source_location::current()))
#  define WARDEN_DYNAMIC_SHARED(type, name) \
    type* const name = reinterpret_cast<type*>(::warden::sim::device::dynamic_shared())

using namespace ::warden::cuda_names;

#endif
