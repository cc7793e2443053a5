// SPDX-License-Identifier: Apache-2.0
/// @file
/// For `__global__` functions as they are written in CUDA code: CUDA's names on the simulated
/// device, two macros for shared memory on both devices, and `warden::launch`. On a GPU the header
/// adds only the macros and the launch.
///
/// | group | names |
/// |---|---|
/// | annotations | `__global__ __device__ __host__ __forceinline__ __noinline__` |
/// | ^ | `__launch_bounds__ __grid_constant__ __align__` |
/// | indices | `threadIdx blockIdx blockDim gridDim warpSize`, the types `dim3 uint3` |
/// | block | `__syncthreads __syncthreads_or __syncthreads_and __syncthreads_count` |
/// | warp | `__syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync` |
/// | ^ | `__any_sync __all_sync __ballot_sync __activemask` |
/// | ^ | `__match_any_sync __match_all_sync`, `__reduce_add_sync` and its like |
/// | atomics | `atomicAdd atomicSub atomicExch atomicCAS atomicMin atomicMax atomicInc` |
/// | ^ | `atomicDec atomicAnd atomicOr atomicXor`, for CUDA's types of 4 and 8 bytes, and |
/// | ^ | with `_block` and `_system`; `atomicCAS` of 2 and 16 bytes, `atomicExch` of 16 |
/// | memory | `__ldg __ldcg __ldca __ldcs __ldlu __ldcv __stcg __stwb __stcs __stwt` |
/// | ^ | `__threadfence __threadfence_block __threadfence_system` |
/// | vectors | `char1` to `double4`, `make_char1` to `make_double4` |
/// | arithmetic | `__popc __clz __ffs __brev`, each with `ll` as well, and `min max` |
/// | ^ | bit casts as `__float_as_uint`; `__umulhi __mul64hi __byte_perm __funnelshift_l` |
/// | ^ | `rsqrtf __fdividef __expf __fmaf_rn __float2int_rz` and their like |
/// | time and end | `clock64 __nanosleep __trap` |
///
/// Each name is a scheduling point and records its source line, as everything of the platform layer
/// does. docs/simulated-device.md describes shared memory, `__activemask` and full masks there.
///
/// `WARDEN_SHARED(float[16][17], tile);` declares a block's variable in static shared memory, in
/// place of `__shared__ float tile[16][17];`. `WARDEN_DYNAMIC_SHARED(float, values);` makes
/// `values` a pointer to the block's dynamic shared memory, aligned to 128 bytes. Both start
/// uninitialized.
#pragma once

#include <warden/simt/cuda_names.cuh>
#include <warden/simt/launch.cuh>
