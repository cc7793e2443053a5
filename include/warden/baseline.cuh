// SPDX-License-Identifier: Apache-2.0
/// @file
/// Locks, atomics and sorts on global memory: what Warden replaces and is compared with.
#pragma once

#include <warden/detail/baseline/atomics.cuh>
#include <warden/detail/baseline/atomics_combined.cuh>
#include <warden/detail/baseline/lock_array.cuh>
#include <warden/detail/baseline/lock_as_written.cuh>
#include <warden/detail/baseline/lock_tuned.cuh>
#include <warden/detail/baseline/pair_locks.cuh>
#include <warden/detail/baseline/sort.cuh>
#include <warden/detail/baseline/work.cuh>
