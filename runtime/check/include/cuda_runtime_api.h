// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime API on the simulated device: the calls of programs under `warden check`. As in
// CUDA, the default stream waits for all streams but those created with cudaStreamNonBlocking, and
// these wait for it.
#pragma once

#include "driver_types.h"

#include <warden/simt/cuda_names.cuh>

#include "warden_check/launch.hpp"

#include <cstddef>
#include <tuple>

namespace warden::check {
// Functions that the templates below call.
cudaError_t copy(void* to, void const* from, std::size_t bytes, cudaStream_t stream, bool waits,
                 site const& where, bool from_device = false);
cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes, site const& where);
cudaError_t occupancy_of_device(int* grid, int* block, std::size_t shared_bytes, int limit,
                                site const& where);
cudaError_t set_shared_bytes(int bytes, site const& where);

template <class... Parameters>
cudaError_t launch_by_addresses(void (*kernel)(Parameters...), launch_request const& request,
                                void** arguments) {
  int at = 0;
  // Braces: from the first to the last.
  std::tuple<Parameters...> copies{*static_cast<Parameters*>(arguments[at++])...};
  return static_cast<cudaError_t>(
      enqueue(request, [kernel, copies = std::move(copies)] { std::apply(kernel, copies); }));
}
}  // namespace warden::check

// ---- errors and devices

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
char const* cudaGetErrorName(cudaError_t error);
char const* cudaGetErrorString(cudaError_t error);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(warden::check::site where = warden::check::site::current());
cudaError_t cudaDeviceReset(warden::check::site where = warden::check::site::current());
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache configuration);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

// ---- memory

cudaError_t cudaFree(void* memory, warden::check::site where = warden::check::site::current());
cudaError_t cudaFreeHost(void* memory, warden::check::site where = warden::check::site::current());
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream,
                          warden::check::site where = warden::check::site::current());
namespace warden::check {
cudaError_t allocate(void** memory, std::size_t bytes, site const& where);
}
template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes,
                       warden::check::site where = warden::check::site::current()) {
  return warden::check::allocate(reinterpret_cast<void**>(memory), bytes, where);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, std::size_t bytes, cudaStream_t,
                            warden::check::site where = warden::check::site::current()) {
  return warden::check::allocate(reinterpret_cast<void**>(memory), bytes, where);
}
template <class T>
cudaError_t cudaMallocManaged(T** memory, std::size_t bytes, unsigned = cudaMemAttachGlobal,
                              warden::check::site where = warden::check::site::current()) {
  return warden::check::allocate(reinterpret_cast<void**>(memory), bytes, where);
}
template <class T>
cudaError_t cudaMallocHost(T** memory, std::size_t bytes, unsigned = cudaHostAllocDefault,
                           warden::check::site where = warden::check::site::current()) {
  return warden::check::allocate(reinterpret_cast<void**>(memory), bytes, where);
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, std::size_t bytes, unsigned,
                          warden::check::site where = warden::check::site::current()) {
  return warden::check::allocate(reinterpret_cast<void**>(memory), bytes, where);
}
/// Host and device address are the same.
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                       warden::check::site where = warden::check::site::current());
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr,
                            warden::check::site where = warden::check::site::current());
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind,
                         warden::check::site where = warden::check::site::current());
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes,
                       warden::check::site where = warden::check::site::current());
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream = nullptr,
                            warden::check::site where = warden::check::site::current());
cudaError_t cudaMemPrefetchAsync(void const* memory, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(void const* memory, std::size_t bytes, cudaMemoryAdvise advice,
                          int device);
namespace warden::check {
/// Returns the address of a byte of a variable, or null if it has fewer than `bytes` bytes from
/// there on.
template <class T>
char* in_symbol(T& symbol, std::size_t bytes, std::size_t offset) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return nullptr;
  return reinterpret_cast<char*>(const_cast<std::remove_cv_t<T>*>(&symbol)) + offset;
}
}  // namespace warden::check
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, void const* from, std::size_t bytes,
                               std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice,
                               warden::check::site where = warden::check::site::current()) {
  return warden::check::copy(warden::check::in_symbol(symbol, bytes, offset), from, bytes, nullptr,
                             true, where);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                 warden::check::site where = warden::check::site::current()) {
  return warden::check::copy(to, warden::check::in_symbol(symbol, bytes, offset), bytes, nullptr,
                             true, where);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, void const* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream = nullptr,
                                    warden::check::site where = warden::check::site::current()) {
  return warden::check::copy(warden::check::in_symbol(symbol, bytes, offset), from, bytes, stream,
                             false, where);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, T& symbol) {
  *address = reinterpret_cast<P*>(const_cast<std::remove_cv_t<T>*>(&symbol));
  return cudaSuccess;
}

// ---- streams and events

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream,
                                  warden::check::site where = warden::check::site::current());
/// Waits: a program that asks again and again makes progress.
cudaError_t cudaStreamQuery(cudaStream_t stream,
                            warden::check::site where = warden::check::site::current());
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0,
                                warden::check::site where = warden::check::site::current());
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr,
                            warden::check::site where = warden::check::site::current());
cudaError_t cudaEventSynchronize(cudaEvent_t event,
                                 warden::check::site where = warden::check::site::current());
/// Waits, like cudaStreamQuery.
cudaError_t cudaEventQuery(cudaEvent_t event,
                           warden::check::site where = warden::check::site::current());
/// There is no time on the simulated device: always 1 ms, so that outputs of schedules are equal.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end,
                                 warden::check::site where = warden::check::site::current());

// ---- kernels

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             warden::check::site where = warden::check::site::current()) {
  return warden::check::launch_by_addresses(
      kernel, {grid, block, shared_bytes, stream, false, where}, arguments);
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(
    void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
    std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
    warden::check::site where = warden::check::site::current()) {
  return warden::check::launch_by_addresses(
      kernel, {grid, block, shared_bytes, stream, true, where}, arguments);
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*)(Parameters...), cudaFuncAttribute attribute, int value,
                                 warden::check::site where = warden::check::site::current()) {
  return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize
             ? warden::check::set_shared_bytes(value, where)
             : cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaFuncSetCacheConfig(void (*)(Parameters...), cudaFuncCache) {
  return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, void (*)(Parameters...), int threads, std::size_t shared_bytes,
    warden::check::site where = warden::check::site::current()) {
  return warden::check::occupancy(blocks, threads, shared_bytes, where);
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* grid, int* block, void (*)(Parameters...), std::size_t shared_bytes = 0, int limit = 0,
    warden::check::site where = warden::check::site::current()) {
  return warden::check::occupancy_of_device(grid, block, shared_bytes, limit, where);
}
