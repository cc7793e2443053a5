// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which device a translation unit is compiled for, the annotations that follow from it, and the
/// inline namespace that keeps two differently compiled copies of the library apart.
#pragma once

#include <warden/simt/compiler.hpp>
#include <warden/version.hpp>

#if defined(WARDEN_GPU)

/// For WARDEN_PASTE.
#  define WARDEN_PASTE_(a, b, c, d, e, f, g, h, i, ...) \
    v0_1_sm_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h##_##i
/// One name per version and list of architectures: two libraries, each with its own copy of Warden
/// built for other architectures, can be linked into one program without mixing their kernels.
#  define WARDEN_PASTE(...) WARDEN_PASTE_(__VA_ARGS__)
#  if defined(__CUDA_ARCH_LIST__)
#    define WARDEN_ABI WARDEN_PASTE(__CUDA_ARCH_LIST__, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#  else
/// The inline namespace of everything that users compile.
#    define WARDEN_ABI v0_1_sm
#  endif
// A kernel made for a type without linkage has none itself: hiding it then is needless, not wrong.
#  pragma nv_diag_suppress 1407
/// A kernel, hidden from other libraries of the same program.
#  define WARDEN_KERNEL __global__ __attribute__((visibility("hidden")))
/// Threads a block has at most, and blocks a multiprocessor must be able to hold.
#  define WARDEN_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
/// A kernel's parameter, by value, that is read in place.
#  define WARDEN_GRID_CONSTANT __grid_constant__
/// An inlined device function.
#  define WARDEN_DEVICE __device__ __forceinline__
/// A device function that is hardly ever called: its code stays out of the loops that may call it.
#  define WARDEN_COLD __device__ __noinline__
/// An inlined function for host and device.
#  define WARDEN_HOST_DEVICE __host__ __device__ __forceinline__
/// Unrolls the loop that follows.
#  define WARDEN_UNROLL _Pragma("unroll")
/// Keeps the loop that follows a loop.
#  define WARDEN_NO_UNROLL _Pragma("unroll 1")

#elif defined(WARDEN_SIMULATED)

// User code says __device__; the host compiler must not mind.
#  define __device__
#  define __host__
#  define __global__
#  define WARDEN_ABI v0_1_simulated
#  define WARDEN_KERNEL inline
#  define WARDEN_BOUNDS(threads, blocks)
#  define WARDEN_GRID_CONSTANT
#  define WARDEN_DEVICE inline
#  define WARDEN_COLD inline
#  define WARDEN_HOST_DEVICE inline
#  define WARDEN_UNROLL
#  define WARDEN_NO_UNROLL

#else
#  error \
      "warden: compile this header with nvcc (link warden::cuda), or for the simulated device (link warden::sim)"
#endif

/// Opens `warden` and the inline namespace of this compilation.
#define WARDEN_NAMESPACE_BEGIN \
  namespace warden {           \
  inline namespace WARDEN_ABI {
/// Closes what WARDEN_NAMESPACE_BEGIN opened.
#define WARDEN_NAMESPACE_END \
  }                          \
  }
