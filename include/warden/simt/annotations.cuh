// SPDX-License-Identifier: Apache-2.0
/// @file
/// Annotations of code for either device, and the inline namespace that separates two differently
/// compiled copies of the library.
#pragma once

#include <warden/simt/compiler.hpp>
#include <warden/version.hpp>

#if defined(WARDEN_GPU)

/// For WARDEN_PASTE.
#  define WARDEN_PASTE_(a, b, c, d, e, f, g, h, i, ...) \
    sm_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h##_##i
/// One name for each version and list of architectures. Two libraries, each with its own copy of
/// Warden for other architectures, can then be linked into one program without mixing their
/// kernels.
#  define WARDEN_PASTE(...) WARDEN_PASTE_(__VA_ARGS__)
#  if defined(__CUDA_ARCH_LIST__)
#    define WARDEN_ABI                                             \
      WARDEN_VERSIONED(WARDEN_VERSION_MAJOR, WARDEN_VERSION_MINOR, \
                       WARDEN_PASTE(__CUDA_ARCH_LIST__, 0, 0, 0, 0, 0, 0, 0, 0, 0))
#  else
/// The inline namespace of everything that users compile.
#    define WARDEN_ABI WARDEN_VERSIONED(WARDEN_VERSION_MAJOR, WARDEN_VERSION_MINOR, sm)
#  endif
// A kernel for a type without linkage has none itself: hiding it is needless then, not wrong.
#  pragma nv_diag_suppress 1407
/// A kernel, hidden from other libraries of the same program.
#  define WARDEN_KERNEL __global__ __attribute__((visibility("hidden")))
/// Bounds of a kernel: largest number of threads of a block, and number of blocks that a
/// multiprocessor must be able to hold.
#  define WARDEN_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
/// A kernel's parameter, passed by value, that is read in place.
#  define WARDEN_GRID_CONSTANT __grid_constant__
/// An inlined device function.
#  define WARDEN_DEVICE __device__ __forceinline__
/// A device function that is rarely called: its code stays out of the loops that may call it.
#  define WARDEN_COLD __device__ __noinline__
/// An inlined function for host and device.
#  define WARDEN_HOST_DEVICE __host__ __device__ __forceinline__
/// Unrolls the loop that follows.
#  define WARDEN_UNROLL _Pragma("unroll")
/// Keeps the following loop a loop.
#  define WARDEN_NO_UNROLL _Pragma("unroll 1")

#elif defined(WARDEN_SIMULATED)

// Lets the host compiler accept user code with __device__.
#  define __device__
#  define __host__
#  define __global__
#  define WARDEN_ABI WARDEN_VERSIONED(WARDEN_VERSION_MAJOR, WARDEN_VERSION_MINOR, simulated)
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
