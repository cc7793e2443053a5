// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places for threads that each need any number of them: within a kernel, and as one call. Beside
/// these warden/compact.cuh, which takes long to compile.
#pragma once

#include <warden/detail/allocate/allocate_async.cuh>
#include <warden/detail/allocate/block_allocator.cuh>
#include <warden/detail/allocate/output.cuh>
#include <warden/detail/allocate/partition.cuh>
#include <warden/detail/allocate/run_length_decode.cuh>
#include <warden/detail/allocate/warp_allocator.cuh>
