// SPDX-License-Identifier: Apache-2.0
// The seam: every intrinsic, atomic, fence, message access and wait of the library, for the device
// that this translation unit is compiled for.
//
// Both devices give the same functions in `warden::simt`:
//
//   identity     thread_rank() block_threads() lane_id() warp_rank() block_rank() block_count()
//   sm_id() block        sync_block() sync_block_or(bool)                         every thread of
//   the block warp         sync_warp(m) ballot(m, p) any(m, p) shuffle(m, v, lane) match_any(m, v)
//                every lane named in the mask m calls it at the same place; m is explicit, always
//   global       load_relaxed load_acquire store_relaxed store_release    4 and 8 bytes, device
//   scope
//                fetch_add exchange compare_exchange fetch_min fetch_max  relaxed, device scope
//                load_lane store_lane                                     16 bytes, two 64-bit
//                words,
//                                                                         each atomic by itself
//   shared       shared_load shared_store shared_fetch_add shared_exchange shared_compare_exchange
//                                                                         relaxed, block scope
//   fences       fence_device() fence_block()                             acquire and release
//   waiting      wait_until(predicate, hopeful, watch), back_off(round)
//   time         nanoseconds()
//   sections     section_enter(record) section_leave(record)              seen by the simulated
//   device memory       dynamic_shared(), shared_span<T>
#pragma once

#include <warden/simt/annotations.cuh>

#if defined(__CUDACC__)
#  include <warden/simt/cuda.cuh>
#else
#  include <warden/simt/simulated.cuh>
#endif
