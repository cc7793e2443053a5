// SPDX-License-Identifier: Apache-2.0
/// @file
/// The platform layer: every intrinsic, atomic, fence, message access and wait of the library, for
/// the device that this translation unit is compiled for.
#pragma once

#include <warden/simt/annotations.cuh>

/// @namespace warden::simt
/// The platform layer: the operations that code of both devices may use. Both devices have the same
/// functions. Blocks and grids may have up to 3 dimensions; numbers of threads and blocks count x
/// first.
///
/// | group | functions | meaning |
/// |---|---|---|
/// | identity | `thread_rank() block_threads() lane_id() warp_rank()` | within the block |
/// | ^ | `block_shape()` | x, y and z, 16 bits each |
/// | ^ | `assume_one_dimension()` | block and grid have one: ranks then take no arithmetic |
/// | ^ | `assume_linear_block()` | the block has one |
/// | ^ | `block_rank() block_count() sm_id()` | of the launch; multiprocessor |
/// | ^ | `wait_for_previous_kernel()` | every thread, first, in a kernel that was launched early |
/// | block | `sync_block() sync_block_or(bool)` | every thread of the block |
/// | cluster | `cluster_size() cluster_rank()` | its blocks; this block's place. Alone: 1 and 0 |
/// | ^ | `sync_cluster()` | every thread of its blocks |
/// | ^ | `cluster_load cluster_store` | `(own, rank)`: the place of `own` in another block |
/// | ^ | `cluster_fetch_add` | the same, of 32 bits; the old value |
/// | ^ | `cluster_add cluster_set_bits` | of 32 bits; no result. All: dynamic shared memory |
/// | warp | `sync_warp(m) ballot(m, p) any(m, p)` | every lane named in the mask m, at one place |
/// | ^ | `shuffle(m, v, lane) match_any(m, v)` | values of 4 or 8 bytes |
/// | ^ | `match_below<Limit>(m, v)` | the same of values below `Limit` |
/// | ^ | `group_sync(m) group_ballot(m, p)` | as above, of lanes that run a section together |
/// | ^ | `group_shuffle(m, v, lane) group_match(m, v)` | the same |
/// | ^ | `warp_min(v) warp_sum(v)` | 32 bits, sums also 64; every lane of the warp |
/// | ^ | `unknown(v)` | v, as an unknown value to the compiler |
/// | bits | `count_bits(w) first_bit(w) last_bit(w)` | 32 bits; none: -1 |
/// | ^ | `multiply_high(a, b)` | 32 or 64 bits |
/// | ^ | `sum_of_bytes(w)` | of a word's four |
/// | global | `load_relaxed load_acquire` | 4 or 8 bytes, device scope |
/// | ^ | `load_unordered` | the same, relaxed; of a time that the compiler may choose |
/// | ^ | `store_relaxed store_release` | the same |
/// | ^ | `fetch_add fetch_or fetch_xor fetch_min fetch_max` | relaxed; the old value |
/// | ^ | `add(address, v)` | as fetch_add, but of 32 or 64 bits, and with no result to wait for |
/// | ^ | `fetch_add_together add_together` | converged lanes add by one atomic |
/// | ^ | `count_together(address)` | their number, for the first of them; else 0 |
/// | ^ | `exchange compare_exchange` | the same |
/// | ^ | `load_flit store_flit` | 16 bytes: two 64-bit words, each atomic by itself |
/// | ^ | `load_whole_flit store_whole_flit` | 16 bytes as one access: more than PTX promises |
/// | ^ | `load_four_words` | 16 bytes by one load: four words, each atomic by itself |
/// | ^ | `store_four_words` | 16 bytes, plain |
/// | ^ | `load_plain(address)` | an object of up to 16 bytes, plain |
/// | ^ | `prefetch(address)` | starts a load into the level-2 cache |
/// | shared | `shared_load shared_store` | relaxed, block scope |
/// | ^ | `shared_fetch_add shared_fetch_min` | the same; the old value |
/// | ^ | `shared_set_bits` | the same, of 32 bits; no result |
/// | ^ | `shared_exchange shared_compare_exchange` | the same |
/// | ^ | `dynamic_shared() shared_span<T>` | the launch's arena, uninitialized; a piece |
/// | ^ | `is_shared(address)` | true if it is the block's |
/// | ^ | `known_shared(address)` | the address; the compiler knows that it is shared |
/// | fences | `fence_device() fence_block()` | acquire and release |
/// | waiting | `wait_until(predicate, hopeful, watch)` | with pauses; false once `hopeful()` is |
/// | ^ | `back_off(failures)` | sleeps, longer after more failed tries |
/// | time | `nanoseconds()` | one clock for all multiprocessors |
/// | ^ | `cycles()` | a clock of each multiprocessor |
/// | sections | `section_enter(record, in_order)` | seen by the simulated device |
/// | ^ | `section_leave(record, in_order)` | the same |
/// | ^ | `group_enter(m, record) group_leave(m, record)` | the same, by every lane of a group |
/// | ^ | `group_enter(m, record, place, keeps)` | of a section that may be a no-op |
/// | ^ | `run_checked(place, keeps, run)` | runs a section that may be a no-op by one thread |
/// | ^ | `doubts()` | true if a no-op section is to run, on the simulated device |
/// | ^ | `begin_collective(storage) end_collective(storage)` | a block's use of a storage |
/// | ^ | `note_loop_order(log, launch, record, index, call)` | of a section that is sent in order |
/// | visibility | `note_written(object)` | the caller has written it by plain stores |
/// | ^ | `demand_visible(object)` | an error unless these stores are visible to the caller |
/// | counts | `note_reservation(messages) note_lock_retry()` | on the simulated device |

#if defined(WARDEN_GPU)
#  include <warden/simt/cuda.cuh>
#  include <warden/simt/cuda_cluster.cuh>
#else
#  include <warden/simt/simulated.cuh>
#  include <warden/simt/simulated_cluster.cuh>
#endif
