// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places for threads that each need any number of them: within a kernel, and as one call. Beside
/// these warden/allocate/compact.cuh, which takes long to compile.
#pragma once

#include <warden/allocate/allocate_async.cuh>
#include <warden/allocate/block_allocator.cuh>
#include <warden/allocate/output.cuh>
#include <warden/allocate/partition.cuh>
#include <warden/allocate/run_length_decode.cuh>
#include <warden/allocate/warp_allocator.cuh>
