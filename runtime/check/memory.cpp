// SPDX-License-Identifier: Apache-2.0
// Memory, copies and fills of the CUDA runtime API.

#include "include/cuda_runtime_api.h"
#include "session.hpp"

#include <warden/runtime.hpp>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace warden::check {
namespace {

/// [begin] bytes
std::map<std::byte const*, std::size_t>& allocations() {
  static auto& a = *new std::map<std::byte const*, std::size_t>;
  return a;
}
/// Copies of pageable memory that asynchronous copies still read: CUDA has copied it on return.
std::vector<std::vector<std::byte>>& staged() {
  static auto& s = *new std::vector<std::vector<std::byte>>;
  return s;
}

cudaError_t release(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (allocations().erase(static_cast<std::byte const*>(memory)) == 0) {
    return fail(cudaErrorInvalidValue,
                "freeing memory that is not the begin of an allocation: invalid argument");
  }
  runtime::deallocate(memory);
  return cudaSuccess;
}

cudaError_t fill(void* to, int byte, std::size_t bytes, cudaStream_t stream, site const& where) {
  return guarded([&] {
    order(stream, where);
    runtime::fill_async(to, static_cast<unsigned char>(byte), bytes, stream, where);
  });
}

}  // namespace

bool is_allocated(void const* memory) {
  auto const* const at = static_cast<std::byte const*>(memory);
  auto const next = allocations().upper_bound(at);
  return next != allocations().begin() && at < std::prev(next)->first + std::prev(next)->second;
}

cudaError_t allocate(void** memory, std::size_t bytes, site const& where) {
  return guarded([&] {
    *memory = bytes == 0 ? nullptr : runtime::allocate(bytes, where);
    if (bytes != 0) allocations()[static_cast<std::byte const*>(*memory)] = bytes;
  });
}

cudaError_t copy(void* to, void const* from, std::size_t bytes, cudaStream_t stream, bool waits,
                 site const& where, bool from_device) {
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) {
    return fail(cudaErrorInvalidValue,
                "copying from or to a null pointer, or beyond a variable: invalid argument");
  }
  return guarded([&] {
    order(stream, where);
    // A variable in device memory is in no allocation.
    if (!waits && !from_device && !is_allocated(from)) {
      auto const* const begin = static_cast<std::byte const*>(from);
      staged().emplace_back(begin, begin + bytes);
      from = staged().back().data();
    }
    runtime::copy_async(to, from, bytes, stream, where);
    // As in CUDA, a copy to pageable memory has happened when the call returns.
    if (waits || !is_allocated(to)) stream_ref{stream}.synchronize(where);
  });
}

}  // namespace warden::check

using namespace warden::check;

cudaError_t cudaFree(void* memory, site) { return release(memory); }
cudaError_t cudaFreeHost(void* memory, site) { return release(memory); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t, site) { return release(memory); }

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind, site where) {
  return copy(to, from, bytes, nullptr, true, where);
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream, site where) {
  return copy(to, from, bytes, stream, false, where,
              kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, site where) {
  for (std::size_t row = 0; row < height; ++row) {
    cudaError_t const error =
        cudaMemcpy(static_cast<std::byte*>(to) + row * to_pitch,
                   static_cast<std::byte const*>(from) + row * from_pitch, width, kind, where);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes, site where) {
  return fill(to, byte, bytes, nullptr, where);
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream,
                            site where) {
  return fill(to, byte, bytes, stream, where);
}
cudaError_t cudaMemPrefetchAsync(void const*, std::size_t, int, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(void const*, std::size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
