// SPDX-License-Identifier: Apache-2.0
#include "tests/nccl/fake_nccl.hpp"

#include "runtime/nccl/window.hpp"

#include <warden/communicator.hpp>
#include <warden/error.hpp>
#include <warden/runtime.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <source_location>
#include <vector>

calls now;

namespace {
thread_local int device_of_thread = 0;
}  // namespace

extern "C" {

char const* ncclGetErrorString(ncclResult_t code) {
  return code == ncclRemoteError     ? "remote error"
         : code == ncclInternalError ? "internal error"
                                     : "invalid";
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  if (comm->polls_left > 0) {
    --comm->polls_left;
    *state = ncclInProgress;
  } else {
    comm->made = true;
    *state = comm->state;
  }
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (!comm->made) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!comm->made) return ncclInvalidArgument;
  *count = comm->size;
  return ncclSuccess;
}
ncclResult_t ncclAllGather(void const*, void*, size_t, ncclDataType_t, ncclComm_t comm,
                           cudaStream_t) {
  return comm->polls_left > 0 ? ncclInvalidArgument : now.sent;
}
ncclResult_t ncclSend(void const*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return now.sent;
}
ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  ++now.groups;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  --now.groups;
  return now.group;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, int const*) {
  now.made.clear();
  for (int rank = 0; rank < count; ++rank) {
    now.made.push_back(std::make_unique<ncclComm>());
    now.made.back()->rank = rank;
    now.made.back()->size = count;
    comms[rank] = now.made.back().get();
  }
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ++comm->aborted;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ++comm->destroyed;
  return ncclSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t) {
  return now.stream_ends ? cudaSuccess : cudaErrorNotReady;
}
/// Counts sleeps. `sleep_for` calls it.
int nanosleep(timespec const* time, timespec* left) {
  ++now.sleeps;
  return clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
char const* cudaGetErrorString(cudaError_t) { return "an error of CUDA's"; }

}  // extern "C"

WARDEN_HOST_NAMESPACE_BEGIN
namespace runtime {
int device_count() noexcept { return 4; }
device_scope::device_scope(int device, std::source_location where) : previous_{device_of_thread} {
  if (device == now.lost_device)
    throw cuda_error{cudaErrorDevicesUnavailable, "the device is lost", where};
  device_of_thread = device;
}
device_scope::~device_scope() { device_of_thread = previous_; }
void* allocate(std::size_t bytes, std::source_location) { return std::malloc(bytes); }
void deallocate(void* memory) noexcept { std::free(memory); }
void* allocate_pinned(std::size_t bytes, std::source_location where) {
  if (device_of_thread == now.full_device)
    throw cuda_error{cudaErrorMemoryAllocation, "out of pinned memory", where};
  return std::malloc(bytes);
}
void deallocate_pinned(void* memory) noexcept { std::free(memory); }
}  // namespace runtime
bool has_windows(ncclComm_t, int) { return now.has_windows; }
std::byte* allocate_for_window(std::size_t bytes, std::source_location) {
  ++now.memories;
  return static_cast<std::byte*>(std::malloc(bytes));
}
void free_for_window(std::byte* memory) noexcept {
  --now.memories;
  std::free(memory);
}
void finish_work_on(std::byte*) noexcept {}
ncclResult_t register_window(ncclComm_t comm, std::byte* memory, std::size_t,
                             window_handle& window) {
  comm->polls_left = now.polls_of_window;
  if (now.registered == ncclSuccess && now.makes_window) {
    ++now.windows;
    window = reinterpret_cast<window_handle>(memory);
  }
  return now.registered;
}
void close_window(ncclComm_t, window_handle window) noexcept {
  if (window != nullptr) --now.windows;
}
std::vector<std::byte*> addresses_in(window_handle window, int ranks, std::source_location) {
  if (!now.reaches_all) return {};
  return std::vector<std::byte*>(static_cast<std::size_t>(ranks),
                                 reinterpret_cast<std::byte*>(window));
}
communicator communicator::alone() { return communicator{std::shared_ptr<runtime::transport>{}}; }
WARDEN_HOST_NAMESPACE_END
