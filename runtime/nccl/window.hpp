// SPDX-License-Identifier: Apache-2.0
// Windows of NCCL: memory of each rank that all ranks have mapped. From NCCL 2.28 on; with an older
// one there are none.
#pragma once

#include <warden/simt/host_abi.hpp>

#include <nccl.h>

#include <cstddef>
#include <source_location>
#include <vector>

WARDEN_HOST_NAMESPACE_BEGIN

#if NCCL_VERSION_CODE >= 22800
using window_handle = ncclWindow_t;
#else
using window_handle = void*;
#endif

/// True, on all ranks, if copies of each rank reach the memory of all others.
bool has_windows(ncclComm_t comm, int ranks);
/// Device memory that can be in a window. Throws cuda_error.
std::byte* allocate_for_window(std::size_t bytes, std::source_location where);
void free_for_window(std::byte* memory) noexcept;
/// Blocks the host until all work of the device that has the memory has ended.
void finish_work_on(std::byte* memory) noexcept;
/// Collective. `window` may be set later, if the communicator does not block; to null where it is
/// not supported.
ncclResult_t register_window(ncclComm_t comm, std::byte* memory, std::size_t bytes,
                             window_handle& window);
void close_window(ncclComm_t comm, window_handle window) noexcept;
/// Addresses of the memory of all ranks, by rank; none, on all ranks, if copies do not reach it.
/// Throws cuda_error.
std::vector<std::byte*> addresses_in(window_handle window, int ranks, std::source_location where);

WARDEN_HOST_NAMESPACE_END
