// SPDX-License-Identifier: Apache-2.0
/// @file
/// Refuses what no header of Warden compiles with, before anything else of it is compiled.
#pragma once

#if __cplusplus <= 201703L
#  error "warden: this is C++17 or older; compile as C++20: -std=c++20, for nvcc, too"
#endif
#if defined(__CUDACC__) && defined(WARDEN_SIMULATED)
#  error \
      "warden: WARDEN_SIMULATED is defined, and nvcc compiles for GPUs alone; leave it undefined (link warden::cuda), or use the host compiler (link warden::sim)"
#endif
