// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device that this translation unit is compiled for; refuses compilers and options that no header
/// of Warden compiles with, before it compiles anything else.
#pragma once

#if __cplusplus <= 201703L
#  error "warden: this is C++17 or older; compile as C++20: -std=c++20, for nvcc, too"
#endif
#if defined(__CUDACC__) && defined(WARDEN_SIMULATED)
#  error \
      "warden: WARDEN_SIMULATED is defined, and nvcc compiles for GPUs alone; leave it undefined (link warden::cuda), or use the host compiler (link warden::sim)"
#endif

#if defined(__CUDACC__)
/// Defined if nvcc compiles for a GPU. It differs from `__CUDACC__`: `./warden check` defines that
/// for the sources of a program whose device is the simulated one.
#  define WARDEN_GPU 1
#endif
