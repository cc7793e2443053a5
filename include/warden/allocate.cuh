// SPDX-License-Identifier: Apache-2.0
/// @file
/// Output places for threads that each need any number of them, within a kernel and as one call.
/// warden/compact.cuh is separate, because it takes long to compile.
#pragma once

#include <warden/detail/allocate/allocate_async.cuh>
#include <warden/detail/allocate/block_allocator.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/detail/allocate/partition.cuh>
#include <warden/detail/allocate/run_length_decode.cuh>
#include <warden/detail/allocate/warp_allocator.cuh>
