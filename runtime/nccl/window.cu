// SPDX-License-Identifier: Apache-2.0
// Windows of NCCL.

#include "window.hpp"

#include <warden/runtime.hpp>
#include <warden/stream.hpp>

#include "../cuda/check.hpp"

#include <cuda_runtime_api.h>

#if NCCL_VERSION_CODE >= 22800
#  include <nccl_device.h>
#endif

#include <algorithm>
#include <memory>
#include <string>

WARDEN_HOST_NAMESPACE_BEGIN

#if NCCL_VERSION_CODE >= 22800

namespace {

__global__ void find_addresses(ncclWindow_t window, int ranks, std::byte** addresses) {
  for (int r = 0; r < ranks; ++r)
    addresses[r] = static_cast<std::byte*>(ncclGetLsaPointer(window, 0, r));
}

}  // namespace

bool has_windows(ncclComm_t comm, int ranks) { return ncclTeamLsa(comm).nRanks == ranks; }

std::byte* allocate_for_window(std::size_t bytes, std::source_location where) {
  void* memory = nullptr;
  if (ncclMemAlloc(&memory, bytes) != ncclSuccess) {
    cudaGetLastError();  // reported here
    std::string const what = "allocating " + std::to_string(bytes) + " bytes for all ranks";
    check(cudaErrorMemoryAllocation, what.c_str(), where);
  }
  return static_cast<std::byte*>(memory);
}
void free_for_window(std::byte* memory) noexcept { ncclMemFree(memory); }
void finish_work_on(std::byte* memory) noexcept {
  cudaPointerAttributes attributes{};
  int current = 0;
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess ||
      cudaGetDevice(&current) != cudaSuccess)
    return;
  // Another one may be current where the memory is freed.
  cudaSetDevice(attributes.device);
  cudaDeviceSynchronize();
  cudaSetDevice(current);
}

ncclResult_t register_window(ncclComm_t comm, std::byte* memory, std::size_t bytes,
                             window_handle& window) {
  return ncclCommWindowRegister(comm, memory, bytes, &window, NCCL_WIN_COLL_SYMMETRIC);
}
void close_window(ncclComm_t comm, window_handle window) noexcept {
  if (window != nullptr) ncclCommWindowDeregister(comm, window);
}

std::vector<std::byte*> addresses_in(window_handle window, int ranks, std::source_location where) {
  // A window that other ranks do not reach is not device memory.
  cudaPointerAttributes attributes{};
  bool const is_known = cudaPointerGetAttributes(&attributes, window) == cudaSuccess;
  cudaGetLastError();
  if (!is_known || attributes.type != cudaMemoryTypeDevice) return {};
  std::vector<std::byte*> found(static_cast<std::size_t>(ranks));
  std::size_t const bytes = found.size() * sizeof(std::byte*);
  void* const pinned = runtime::allocate_pinned(bytes, where);
  std::unique_ptr<void, decltype(&runtime::deallocate_pinned)> const owner{
      pinned, &runtime::deallocate_pinned};
  auto* const addresses = static_cast<std::byte**>(pinned);
  stream const s{where};
  find_addresses<<<1, 1, 0, stream_ref{s}.handle()>>>(window, ranks, addresses);
  check(cudaGetLastError(), "looking for the memory of other ranks", where);
  s.synchronize(where);
  std::copy(addresses, addresses + ranks, found.begin());
  return found;
}

#else

bool has_windows(ncclComm_t, int) { return false; }
std::byte* allocate_for_window(std::size_t, std::source_location) { return nullptr; }
void free_for_window(std::byte*) noexcept {}
void finish_work_on(std::byte*) noexcept {}
ncclResult_t register_window(ncclComm_t, std::byte*, std::size_t, window_handle&) {
  return ncclInvalidUsage;
}
void close_window(ncclComm_t, window_handle) noexcept {}
std::vector<std::byte*> addresses_in(window_handle, int, std::source_location) { return {}; }

#endif

WARDEN_HOST_NAMESPACE_END
